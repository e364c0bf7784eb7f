"""Reuters-21578 ModApte through the command line, as a user would: `textbayes train` without options, then `evaluate`.

9,603 training and 3,299 test documents, 90 categories; nothing is chosen on the test set. Macro-F1 is the mean over the
90 categories, a category without a right decision counting 0.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _common import close, reuters

MICRO_BAR, MACRO_BAR = 0.876, 0.600


def textbayes(*arguments: str) -> str:
    command = [sys.executable, "-m", "textbayes.cli.main", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    corpus = reuters()
    with tempfile.TemporaryDirectory() as folder:
        for name, part in (("train", corpus.train), ("test", corpus.test)):
            lines = (
                json.dumps({"id": id_, "text": text, "labels": list(labels)})
                for id_, text, labels in zip(part.ids, part.texts, part.labels, strict=True)
            )
            Path(folder, f"{name}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        model = f"{folder}/model.tb"
        start = time.perf_counter()
        textbayes("train", f"{folder}/train.jsonl", "-o", model)
        seconds = time.perf_counter() - start
        figures = json.loads(textbayes("evaluate", model, f"{folder}/test.jsonl", "--json"))
    print(f"{len(corpus.train):,} / {len(corpus.test):,} documents, {figures['n_labels']} categories, {seconds:.0f} s")
    for name in ("micro_precision", "micro_recall", "log_loss", "brier", "ece"):
        print(f"{name:16} {figures[name]:.4f}")
    micro, macro = figures["micro_f1"], figures["macro_f1"]
    passed = micro >= MICRO_BAR and macro >= MACRO_BAR and (len(corpus.train), len(corpus.test)) == (9603, 3299)
    passed = passed and figures["n_labels"] == 90
    close("reuters", passed, f"micro-F1 {micro:.4f} (bar {MICRO_BAR}), macro-F1 {macro:.4f} (bar {MACRO_BAR:.3f})")


if __name__ == "__main__":
    main()

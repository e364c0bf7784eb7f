"""A first session in an environment that has textbayes and nothing it does not ask for: files in, answers out.

Run by `make smoke`, once with the newest versions and no extras, once with the lowest that pyproject.toml allows. With
``--demo`` the demo runs instead, which needs its extra.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROWS = [
    ("wheat and corn prices", "grain"),
    ("the corn harvest falls", "grain"),
    ("a bank raises rates", "money"),
    ("the bank cuts its rates", "money"),
    ("crude oil from the north", "oil"),
    ("an oil pipeline leaks", "oil"),
]
PARTS = ("numpy", "scipy", "scikit-learn", "numba", "click", "rich")


def textbayes(*arguments: str) -> str:
    """What a command prints; anything but success ends the run."""
    command = [sys.executable, "-m", "textbayes", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tempfile.gettempdir(), check=False)
    if done.returncode:
        sys.exit(f"textbayes {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def demo() -> None:
    """The demo, in another folder than that of the sources."""
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "reports" / "demo.html"
        told = json.loads(textbayes("demo", "--json", "--output", str(page)))
        assert told["accuracy"] >= 0.975, told["accuracy"]
        assert page.stat().st_size > 100_000
    print(f"demo from the wheel: accuracy {told['accuracy']:.4f}: pass")


def session() -> None:
    """Texts in a file are learnt, classified, evaluated, explained, filtered and compared."""
    assert textbayes("--version") == f"textbayes {version('textbayes')}\n"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts, model, desk = (str(folder / part) for part in ("texts.csv", "model.tb", "desk"))
        lines = ["text,label", *(f"{text} {i},{label}" for i in range(6) for text, label in ROWS)]
        Path(texts).write_text("\n".join(lines) + "\n", encoding="utf-8")
        told = json.loads(textbayes("train", texts, "-o", model, "--json"))
        assert told["documents"] == 36, told
        assert told["labels"] == 3, told
        rows = [json.loads(line) for line in textbayes("classify", model, texts, "--json").splitlines()]
        assert [row["labels"] for row in rows[:6]] == [[label] for _, label in ROWS], rows[:6]
        assert json.loads(textbayes("evaluate", model, texts, "--json"))["accuracy"] == 1.0
        assert json.loads(textbayes("explain", model, "corn prices", "--json"))["label"] == "grain"
        textbayes("words", model, "--table")
        textbayes("filter", desk, "--train", texts)
        textbayes("filter", desk, texts)
        textbayes("keyness", texts, "--json")
    print("smoke:", ", ".join(f"{part} {version(part)}" for part in PARTS) + ": pass")


if __name__ == "__main__":
    demo() if sys.argv[1:] == ["--demo"] else session()

"""The embedded demo: accuracy on the held-out half, and seconds from the first import to the written report.

Trains the default model on the training half and looks at the test half once. On the first run of an installation
the seconds include compiling the kernels, which are then cached on disk. Exits 1 when a bar is missed.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

ACCURACY_BAR = 0.975
SECONDS_BAR = 60.0


def main() -> None:
    start = time.perf_counter()
    from textbayes.cli.demo import run_demo
    from textbayes.report import write_report

    data = run_demo()
    with tempfile.TemporaryDirectory() as folder:
        write_report(Path(folder) / "demo.html", data)
    seconds = time.perf_counter() - start
    for what, spent in data.timings:
        print(f"{what}: {spent:.1f} s")
    print(f"log-loss {data.measures['log_loss']:.4f}, calibration error {data.measures['ece']:.4f}")
    for note in data.notes:
        print(note)
    accuracy = data.measures["accuracy"]
    passed = accuracy >= ACCURACY_BAR and seconds <= SECONDS_BAR
    from _common import close  # after the clock has stopped: it loads more than the demo needs

    close(
        "demo",
        passed,
        f"held-out accuracy {accuracy:.4f} (bar {ACCURACY_BAR}) in {seconds:.1f} s (bar {SECONDS_BAR:.0f} s)",
    )


if __name__ == "__main__":
    main()

"""Run benchmarks and store their closing lines in results.json, from which docs/benchmarks.md is made.

    python benchmarks/record.py bench_demo.py bench_auto_cost.py     with the arguments that results.json has for them
    python benchmarks/record.py "bench_scoring.py --default"         with these; what is not there yet is added

What a new script measures is the first line of its docstring; its group and what its peers were given are to be
written into results.json by hand. A closing line is stored whether it says pass or FAIL.
`python docs/generate.py docs/benchmarks.md` writes the page anew.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from textbayes.core.atomic import atomic_write

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results.json"


def record(script: str, arguments: list[str], results: list[dict[str, Any]]) -> str:
    """Run a script, put its closing line into the results, and give the line."""
    alike = [one for one in results if one["script"] == script and arguments in ([], one["arguments"])]
    known = alike[0] if alike else None
    arguments = arguments or (known["arguments"] if known else [])
    done = subprocess.run([sys.executable, FOLDER / script, *arguments], stdout=subprocess.PIPE, text=True, check=False)
    closing = ["", *done.stdout.strip().splitlines()][-1]
    if not closing.endswith((": pass", ": FAIL")):
        raise SystemExit(f"{script} ended with status {done.returncode} and no closing line; the last was {closing!r}")
    if known is None:
        described = ast.get_docstring(ast.parse((FOLDER / script).read_text(encoding="utf-8"))) or ""
        measures = described.split("\n")[0].rstrip(".")
        known = {"group": "Others", "script": script, "arguments": [], "measures": measures, "peers": ""}
        results.append(known)
    known |= {"arguments": arguments, "closing": closing, "date": today(), "commit": commit()}
    return closing


def today() -> str:
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def commit() -> str:
    """The commit that was measured, with a + where files differ from it; empty outside a checkout."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+"], cwd=FOLDER, capture_output=True, text=True, check=False
    )
    return described.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scripts", nargs="+", metavar="SCRIPT", help="a script, in quotes with its arguments")
    for script, *arguments in map(shlex.split, parser.parse_args().scripts):
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
        print(record(Path(script).name, arguments, results), flush=True)
        with atomic_write(RESULTS) as file:
            file.write((json.dumps(results, indent=1, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    main()

"""benchmarks/record.py stores the closing line of a script, and refuses a script that has none."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture
def record(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("record", BENCHMARKS / "record.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results.json")
    (tmp_path / "results.json").write_text("[]", encoding="utf-8")
    return module


def test_the_closing_line_is_stored_also_where_it_fails(record, tmp_path, monkeypatch):
    script = (
        '"""How fast it is.\n\nMore."""\nimport sys\nprint("1 s")\nprint("bench:", *sys.argv[1:], ": FAIL", sep="")\n'
    )
    (tmp_path / "bench_x.py").write_text(script + "sys.exit(1)\n", encoding="utf-8")
    for arguments in ([f"{tmp_path}/bench_x.py --full"], ["bench_x.py"]):  # the second has the arguments of the first
        monkeypatch.setattr("sys.argv", ["record.py", *arguments])
        record.main()
        (stored,) = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
        assert stored["closing"] == "bench:--full: FAIL"
        assert stored["arguments"] == ["--full"]
        assert stored["measures"] == "How fast it is"
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", stored["date"])


def test_a_script_without_a_closing_line_changes_nothing(record, tmp_path, monkeypatch):
    (tmp_path / "bench_x.py").write_text('"""X."""\nprint("half way")\n', encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["record.py", "bench_x.py"])
    with pytest.raises(SystemExit, match="no closing line; the last was 'half way'"):
        record.main()
    assert (tmp_path / "results.json").read_text(encoding="utf-8") == "[]"


def test_every_result_says_what_its_peers_were_given():
    for one in json.loads((BENCHMARKS / "results.json").read_text(encoding="utf-8")):
        assert (BENCHMARKS / one["script"]).exists()
        assert one["closing"].endswith((": pass", ": FAIL"))
        assert all(one[name] for name in ("group", "measures", "peers", "date", "commit")), one["script"]

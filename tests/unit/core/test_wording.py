"""Numbers of things in messages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import textbayes
from textbayes.core.errors import plural

NOUNS = "document|text|label|record|topic|word|term|judgement|review|cluster|group|question"


@pytest.mark.parametrize(("number", "told"), [(0, "0 labels"), (1, "1 label"), (2, "2 labels"), (1234, "1,234 labels")])
def test_one_is_not_several(number, told):
    assert plural(number, "label") == told


def test_what_is_no_regular_plural_is_given():
    assert [plural(n, "delivery", "deliveries") for n in (1, 2)] == ["1 delivery", "2 deliveries"]


def test_notes_of_commands_leave_it_to_the_helper():
    """What ends in "document(s)", or counts by hand, says "1 labels" sooner or later."""
    pattern = re.compile(rf"(?:note|warn|echo)\(f\"[^\"]*(?:\((?:s)\)|(?<!of )\{{len\([^}}]*\}} (?:{NOUNS})s\b)")
    found = [
        f"{path.name}:{number}"
        for path in sorted((Path(textbayes.__file__).parent / "cli").glob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert found == []

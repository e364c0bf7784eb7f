"""The Porter stemmer as data: suffixes, what must stand before them, and what takes their place.

Other programs need no stemmer of their own to read an exported model: y is written Y where it is a consonant (at the
beginning and after a vowel), then each step looks for the first of its suffixes that the word ends with, and replaces
it if the condition, a regular expression, matches the beginning of what stands before it. At the end Y is y again.

References
----------
Porter (1980), An algorithm for suffix stripping, Program 14, 130–137, in the form of the Snowball project.
"""

from __future__ import annotations

Rule = tuple[str, str, str]  # suffix, condition on what stands before it, replacement

_V, _C = "[aeiouy]", "[^aeiouy]"
_R1 = f"{_C}*{_V}+{_C}"  # m > 0: vowels, and a consonant after them
_R2 = f"{_R1}{_C}*{_V}+{_C}"  # m > 1
_SHORT = f"{_C}{_V}[^aeiouywxY]$"  # consonant, vowel, consonant, the last not w, x or y
_CUT = "\x01"  # stands where "ed" or "ing" was; no word has it

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "eli": "e",
    "izer": "ize", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al",
    "fulness": "ful", "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ative": "", "ful": "", "ness": ""}
_STEP_4 = ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism", "ate", "iti"]
_STEP_4 += ["ous", "ive", "ize"]


def porter_steps() -> list[list[Rule]]:
    """The steps of the stemmer, each with its suffixes, the longest first."""
    doubled: list[Rule] = [(f"{letter * 2}{_CUT}", "", letter) for letter in "bdfgmnprt"]
    completed: list[Rule] = [(f"{ending}{_CUT}", "", f"{ending}e") for ending in ("at", "bl", "iz")]
    short: Rule = (_CUT, f"(?={_R1}$).*{_SHORT}", "e")
    return [
        [("sses", "", "ss"), ("ies", "", "i"), ("ss", "", "ss"), ("s", "", "")],
        [("eed", _R1, "ee"), ("ing", f".*{_V}", _CUT), ("ed", f".*{_V}", _CUT)],
        [*completed, *doubled, short],
        [(_CUT, "", "")],
        [("y", f".*{_V}", "i"), ("Y", f".*{_V}", "i")],
        _longest_first([(suffix, _R1, new) for suffix, new in _STEP_2.items()]),
        _longest_first([(suffix, _R1, new) for suffix, new in _STEP_3.items()]),
        _longest_first([*((suffix, _R2, "") for suffix in _STEP_4), ("ion", f"(?={_R2}).*[st]$", "")]),
        [("e", f"{_R2}|(?={_R1})(?!.*{_SHORT})", "")],
        [("l", f"(?={_R2}).*l$", "")],
    ]


def _longest_first(rules: list[Rule]) -> list[Rule]:
    return sorted(rules, key=lambda rule: -len(rule[0]))

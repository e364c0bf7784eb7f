"""The Porter stemmer as data: regular expressions to find in a word, one after the other, and what takes their place.

Other programs need no stemmer of their own to read an exported model. y is written Y where it is a consonant (at the
beginning and after a vowel), and y again at the end.

References
----------
Porter (1980), An algorithm for suffix stripping, Program 14, 130–137, in the form of the Snowball project.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

Rule = tuple[str, str]  # pattern, replacement

_V, _C = "[aeiouy]", "[^aeiouy]"
_R1 = f"{_C}*{_V}+{_C}"  # m > 0: vowels, and a consonant after them
_R2 = f"{_R1}{_C}*{_V}+{_C}"  # m > 1
_SHORT = f"{_C}{_V}[^aeiouywxY]"  # consonant, vowel, consonant, the last not w, x or y
_CUT = "\x01"  # stands where "ed" or "ing" was; no word has it

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "eli": "e",
    "izer": "ize", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al",
    "fulness": "ful", "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP_3 = {"alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ative": "", "ful": "", "ness": ""}
_STEP_4 = ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate"]
_STEP_4 += ["iti", "ous", "ive", "ize"]
_ONLY_AFTER = {"ion": "(?<=[st])"}


def porter_rules() -> list[Rule]:
    """The rules of the stemmer in order; a word is in lower case.

    Each takes time in proportion to the word's length: what may be repeated stands once, and up to a given character.
    """
    return [
        (f"(^|{_V})y", r"\1Y"),
        ("(?:(?<=ss)|(?<=i))es$|(?<=[^s])s$", ""),
        (f"^({_R1}.*)eed$", r"\1ee"),
        (f"^({_C}*{_V}.*)(?:(?<!e)ed|ing)$", rf"\1{_CUT}"),
        (f"^(.*(?:at|bl|iz)|{_C}*{_V}+{_C}(?<={_SHORT})){_CUT}$", r"\1e"),
        (rf"([bdfgmnprt])\1{_CUT}$", r"\1"),
        (f"{_CUT}$", ""),
        (f"^({_C}*{_V}.*)[yY]$", r"\1i"),
        *_step(_R1, _STEP_2),
        *_step(_R1, _STEP_3),
        *_step(_R2, dict.fromkeys(_STEP_4, "")),
        (f"^({_R2}.*|{_R1}.*(?<!{_SHORT}))e$", r"\1"),
        (f"^({_R2}.*)(?<=l)l$", r"\1"),
        ("Y", "y"),
    ]


def _step(before: str, endings: Mapping[str, str]) -> Iterator[Rule]:
    """A rule for each text that is added to what is kept of suffixes, for all of these at once.

    A suffix does not count where a longer one of the step ends the word, whatever comes of that.
    """
    by_added = defaultdict(list)
    for suffix, new in endings.items():
        kept = next(suffix[:n] for n in range(len(suffix), -1, -1) if new.startswith(suffix[:n]))
        longer = [other for other in endings if other.endswith(suffix) and other != suffix]
        only = "".join(f"(?<!{other.removesuffix(suffix)})" for other in longer) + _ONLY_AFTER.get(suffix, "")
        by_added[new.removeprefix(kept)].append(f"{only}{kept}(?={suffix.removeprefix(kept)}$)")
    for added, suffixes in by_added.items():
        yield f"^({before}.*(?:{'|'.join(suffixes)})).*", rf"\1{added}"

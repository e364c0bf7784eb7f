"""The Porter stemmer as data does what PyStemmer's does."""

from __future__ import annotations

import random
import re

import pytest
import Stemmer

from references.backtracking import Matcher
from textbayes import load_corpus
from textbayes.export.as_json import _STEP_2, _STEP_3, _STEP_4, porter_rules
from textbayes.text import TextVectorizer

RULES = [(pattern, new, "") for pattern, new in porter_rules()]
SUFFIXES = ["sses", "ies", "ss", "s", "eed", "ing", "ed", "at", "bl", "iz", "y", "e", "ll"]


def stems_alike(words, scorer):
    snowball = Stemmer.Stemmer("porter", 0)
    return {word: scorer.rewrite(word, RULES) for word in words} == {
        word: snowball.stemWord(word) or word for word in words
    }


def test_words_of_the_news(scorer):
    words = TextVectorizer(token_pattern=r"\w+").fit(load_corpus("bbc").train.texts).vocabulary_
    assert len(words) > 20_000
    assert stems_alike(words, scorer)


def test_words_made_of_the_rules_suffixes(scorer):
    rng = random.Random(0)
    suffixes = [*SUFFIXES, *_STEP_2, *_STEP_3, *_STEP_4]
    words = {
        "".join(rng.choices("aeiouybtlsrwx", k=rng.randint(1, 5))) + "".join(rng.choices(suffixes, k=rng.randint(0, 3)))
        for _ in range(20_000)
    }
    assert stems_alike(words, scorer)


def test_words_by_hand(scorer):
    """Examples of Porter (1980), and the word that has no stem."""
    examples = {
        "caresses": "caress", "ponies": "poni", "feed": "feed", "agreed": "agre", "hopping": "hop", "filing": "file",
        "happy": "happi", "sky": "sky", "relational": "relat", "adoption": "adopt", "controll": "control", "s": "s",
    }  # fmt: skip
    assert {word: scorer.rewrite(word, RULES) for word in examples} == examples


@pytest.mark.parametrize("ending", ["", "ing", "y", "e", "ational", "\x01"])
@pytest.mark.parametrize("letters", ["a", "b", "y", "aab", "ing", "ation", "eed"])
def test_the_time_of_a_rule_is_in_proportion_to_the_length_of_a_word(letters, ending):
    """Steps of a matcher that goes back as Python's does: four times the letters, no more than five times the steps."""
    for pattern, _ in porter_rules():
        short, long = ((letters * 200)[:n] + ending for n in (50, 200))
        few, many = Matcher(pattern, short), Matcher(pattern, long)
        assert bool(many.found()) == bool(re.search(pattern, long))
        assert bool(few.found()) == bool(re.search(pattern, short))
        assert many.steps <= 5 * few.steps, pattern


def test_the_matcher_sees_the_square():
    few, many = Matcher("^(.*a.*)ing$", "a" * 100), Matcher("^(.*a.*)ing$", "a" * 400)
    assert few.found() is many.found() is None
    assert many.steps > 10 * few.steps

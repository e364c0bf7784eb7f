"""The Porter stemmer as data does what PyStemmer's does."""

from __future__ import annotations

import random

import Stemmer

from textbayes import load_corpus
from textbayes.export.porter import _STEP_2, _STEP_3, _STEP_4, porter_rules
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

"""The Porter stemmer as data does what PyStemmer's does."""

from __future__ import annotations

import random

import Stemmer

from textbayes import load_corpus
from textbayes.export.porter import porter_steps
from textbayes.text import TextVectorizer


def stems_alike(words, scorer):
    steps, snowball = porter_steps(), Stemmer.Stemmer("porter", 0)
    return {word: scorer.stem(word, steps) for word in words} == {
        word: snowball.stemWord(word) or word for word in words
    }


def test_words_of_the_news(scorer):
    words = TextVectorizer(token_pattern=r"\w+").fit(load_corpus("bbc").train.texts).vocabulary_
    assert len(words) > 20_000
    assert stems_alike(words, scorer)


def test_words_made_of_the_rules_suffixes(scorer):
    rng = random.Random(0)
    suffixes = [suffix.rstrip("\x01") for step in porter_steps() for suffix, _, _ in step]
    words = {
        "".join(rng.choices("aeiouybtlsrwx", k=rng.randint(1, 5))) + "".join(rng.choices(suffixes, k=rng.randint(0, 3)))
        for _ in range(20_000)
    }
    assert stems_alike({word.lower() for word in words}, scorer)


def test_words_by_hand(scorer):
    """Examples of Porter (1980), and the word that has no stem."""
    examples = {
        "caresses": "caress", "ponies": "poni", "feed": "feed", "agreed": "agre", "hopping": "hop", "filing": "file",
        "happy": "happi", "sky": "sky", "relational": "relat", "adoption": "adopt", "controll": "control", "s": "s",
    }  # fmt: skip
    assert {word: scorer.stem(word, porter_steps()) for word in examples} == examples

"""Reference scorer of what ``textbayes export`` writes as JSON, in Python's standard library alone.

python score.py model.json < texts.jsonl    lines with "text" in; labels and probabilities, line by line, out

It is one file that may be copied anywhere (``textbayes export --scorer score.py``) and rewritten in any language.
"""

from __future__ import annotations

import html
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

Model = dict[str, Any]  # or a part of one
Stemmer = Callable[[str], str] | None


def stem(word: str, steps: Sequence[Sequence[Sequence[str]]]) -> str:
    """The stem of a word by rules: suffix, condition on what stands before it, replacement."""
    found = re.sub("(^|[aeiouy])y", r"\1Y", word)  # where it is a consonant
    for step in steps:
        suffix, condition, new = next((rule for rule in step if found.endswith(rule[0])), ("", "$.", ""))
        before = found[: len(found) - len(suffix)]
        found = before + new if re.match(condition, before) else found
    return found.replace("Y", "y") or word


def ngrams(items: Sequence[str], least: int, most: int, glue: str) -> list[str]:
    """All n-grams of words or of characters."""
    return [glue.join(items[i : i + n]) for n in range(least, most + 1) for i in range(len(items) - n + 1)]


def cut(text: str, how: Model, stemmer: Stemmer = None) -> list[str]:
    """The terms of a text."""
    text = text.lstrip().partition("\n")[0][: how["head"]] if how["head"] else text
    text = re.sub(how["unescape"], lambda entity: html.unescape(entity[0]), text) if how["unescape"] else text
    for pattern, new in how["replace"]:
        text = re.sub(pattern, new, text)
    text, terms = text.lower() if how["lowercase"] else text, []
    for pattern, edge, least, most in how["runs"]:  # runs of characters that are read as n-grams of these
        for run in (edge + run + edge for run in re.findall(pattern, text)):
            terms += ngrams(run, least, most, "") or ([run] if edge else [])
        text = re.sub(pattern, " ", text)
    words, left_out = re.findall(how["token"], text), set(how["stop_words"])
    words = [word for word in words if word not in left_out]
    if how["stemmer"]:
        if not (stemmer or how["steps"]):
            sys.exit(f"the model has stems by the stemmer {how['stemmer']!r}: pass that of a Snowball library")
        stems = {word: stemmer(word) if stemmer else stem(word, how["steps"]) for word in set(words)}
        words = [stems[word] for word in words]
    least, most = how["ngrams"]
    return terms + ngrams(words, least, most, " ")


def term_weight(n: int, tf: str) -> float:
    """What a term that occurs n times counts, before its idf."""
    return {"raw": n, "binary": 1.0, "log": 1.0 + math.log(n), "log2": 1.0 + math.log2(n)}[tf]


def log_own(score: float, link: str) -> float:
    """Logarithm of the probability that a label has by itself."""
    if link == "probit":
        return math.log(max(math.erfc(-score / math.sqrt(2.0)) / 2.0, 1e-300))
    return min(score, 0.0) - math.log1p(math.exp(-abs(score)))


def probabilities(text: str, model: Model, stemmer: Stemmer = None) -> list[float]:
    """One probability for each class; where the JSON has no steps of the stemmer, pass it: a function of a word."""
    length = len(cut(text, model["length"])) / 1000.0 if model["length"] else 0.0
    both = zip(model["intercept"], model["per_thousand"], model["with_words"], strict=True)
    scores = [base + length * each + (length > 0.0) * there for base, each, there in both]
    for block in model["blocks"]:
        counts = Counter(term for term in cut(text, block["reading"], stemmer) if term in block["terms"])
        values = {term: term_weight(n, block["tf"]) * block["terms"][term][0] for term, n in counts.items()}
        norm = math.hypot(*values.values()) if block["cosine"] else 1.0
        for term, value in values.items():
            for column, weight in zip(*block["terms"][term][1:], strict=True):
                scores[column] += value / (norm or 1.0) * weight
    for block in model["dispersed"]:
        counts = Counter(cut(text, block["reading"], stemmer))
        for term, both in block["terms"].items():
            for (column, factor), rate, delta in zip(block["rows"], *both, strict=True):
                spread = math.log1p(length * delta)
                rising = math.fsum(math.log(rate + i * delta) for i in range(counts[term]))
                absent = rate * spread / delta if delta else rate * length
                scores[column] += factor * (rising - counts[term] * spread - absent)
    if model["hints"]:
        first = [(score - told["offset"]) / told["slope"] for score, told in zip(scores, model["hints"], strict=True)]
        none = [log_own(-score, "logit") for score in first]
        scores = [
            score - told["hint"] * math.expm1(math.fsum(none) - own)
            for score, told, own in zip(scores, model["hints"], none, strict=True)
        ]
    if model["normalise"] != "softmax":
        scores = [model["sharpness"] * log_own(score, model["link"]) for score in scores]
    if model["normalise"] == "none":
        found = [math.exp(score) for score in scores]
        return [1.0 - found[0], found[0]] if model["kind"] == "binary" else found
    highest = max(scores)
    odds = [math.exp(score - highest) for score in scores]
    total = math.fsum(odds)
    return [one / total for one in odds]


def labels(proba: Sequence[float], model: Model) -> list[str]:
    """The classes that are decided on."""
    if model["thresholds"] is None:
        return [name for name, p in zip(model["classes"], proba, strict=True) if p == max(proba) >= model["least"]][:1]
    if model["kind"] == "binary":
        return [model["classes"][int(proba[1] > model["thresholds"][0])]]
    both = zip(model["classes"], proba, model["thresholds"], strict=True)
    return [name for name, p, threshold in both if p > threshold]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    if model.get("version", 1) > 1:
        sys.exit(f"{sys.argv[1]} is of version {model['version']}, and this scorer of 1: take the one exported with it")
    for line in sys.stdin:
        proba = probabilities(json.loads(line)["text"], model)
        print(
            json.dumps(
                {"labels": labels(proba, model), "probabilities": dict(zip(model["classes"], proba, strict=True))}
            )
        )

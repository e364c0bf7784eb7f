"""Reference scorer of what ``textbayes export`` writes as JSON, in Python's standard library alone.

python score.py model.json < texts.jsonl    lines with "text" in; labels and probabilities, line by line, out

It is one file that may be copied anywhere (``textbayes export --scorer score.py``) and rewritten in any language.
"""

import html
import math
import re
from collections import Counter
from typing import Any

# What rules call by name, of a match; stemmers that the JSON has no rules of ("Snowball german") are to be added.
FUNCTIONS: dict[str, Any] = {"lower": lambda found: found[0].lower(), "unescape": lambda found: html.unescape(found[0])}


def rewrite(text: str, rules: Any) -> str:
    """A text or a word after each rule in turn: what matches becomes a replacement, or what a function makes of it."""
    for pattern, new, function in rules:
        text = re.sub(pattern, FUNCTIONS[function] if function else new, text)
    return text


def cut(text: str, how: dict[str, Any]) -> list[str]:
    """The terms of a text: n-grams of words or, where these are single characters, of characters."""
    found = re.findall(how["word"], rewrite(text, how["text_rules"]))
    words = [rewrite(word, how["word_rules"]) for word in found if word not in how["stop_words"]]
    return [how["glue"].join(words[i : i + n]) for n in how["ngrams"] for i in range(len(words) - n + 1)]


def log_own(score: float, link: str) -> float:
    """Logarithm of the probability that a class has by itself, or of its odds against all others (exp)."""
    probit = math.log(max(math.erfc(-score / math.sqrt(2.0)) / 2.0, 1e-300))
    return {"exp": score, "logit": min(score, 0.0) - math.log1p(math.exp(-abs(score))), "probit": probit}[link]


def probabilities(text: str, model: dict[str, Any]) -> list[float]:
    """One probability for each class."""
    scores = list(model["intercept"])
    for view in model["views"]:
        counts = Counter(term for how in view["cuts"] for term in cut(text, how) if term in view["terms"])
        values = {term: n ** view["power"] * (1.0 + view["log"] * math.log(n)) for term, n in counts.items()}
        norm = math.hypot(*(value * view["terms"][term][0] for term, value in values.items())) or 1.0
        for term, value in values.items():
            for column, weight in zip(*view["terms"][term][1:], strict=True):
                scores[column] += value / norm * weight
        for term, column, factor, size, delta in view["dispersed"]:  # "\n" stands for every word, known or not
            rising = math.fsum(math.log1p(i / size) for i in range(counts[term]))
            scores[column] += factor * (rising - (counts[term] + size) * math.log1p(counts["\n"] * delta))
    none = [log_own(at + per * score, "logit") for score, at, per in zip(scores, *model["first_pass"], strict=True)]
    all_none = math.fsum(none)
    scores = [s - hint * math.expm1(all_none - own) for s, hint, own in zip(scores, model["hint"], none, strict=True)]
    logs = [model["sharpness"] * log_own(score, model["link"]) for score in scores]
    highest = max(logs)
    total = highest + math.log(math.fsum(math.exp(one - highest) for one in logs)) if model["exclusive"] else 0.0
    return [math.exp(one - total) for one in logs]


def labels(proba: list[float], model: dict[str, Any]) -> list[str]:
    """The classes whose probability is above their threshold; where one is to be given, the one that is most above."""
    above = {name: p - bar for name, p, bar in zip(model["classes"], proba, model["thresholds"], strict=True)}
    least = max(above.values()) if model["most"] == 1 else 0.0
    return [name for name, margin in above.items() if margin > 0.0 and margin >= least][: model["most"]]


if __name__ == "__main__":
    import json
    import sys

    with open(sys.argv[1], encoding="utf-8") as file:
        model = json.load(file)
    if (model.get("format"), model.get("version")) != ("textbayes scoring", 2):
        sys.exit(f"{sys.argv[1]} is not of version 2, which this file scores: take the scorer exported with it")
    if missing := set(model["functions"]) - set(FUNCTIONS):
        sys.exit(f"the model needs {', '.join(missing)}: add the stemmer of a Snowball library to FUNCTIONS")
    for line in sys.stdin:
        row = json.loads(line)
        if not isinstance(row, dict) or not isinstance(row.get("text"), str):
            sys.exit(f'{line.strip()[:60]} has no field "text" with a string: write {{"text": "..."}} on each line')
        proba = probabilities(row["text"], model)
        shown = dict(zip(model["classes"], proba, strict=True))
        print(json.dumps({"labels": labels(proba, model), "probabilities": shown}))

"""Mutated prior tables, to the model file and back: refused, or a model that loads and answers as the saved one did.

python tests/fuzz/prior_tables.py --mutations 20000
python tests/fuzz/prior_tables.py --only 1234        one case again
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # pytest imports by path, a command by folder

import numpy as np
import seeds
import worker
from mutations import mutated

from textbayes import TextCategorizer, load_model, save_model
from textbayes.knowledge import WordPriors
from textbayes.priors import priors

TEXTS = ["wheat and corn", "corn harvest", "wheat prices", "bank rates", "the bank cuts rates", "loans of the bank"]
LABELS = {"classes": ["grain"] * 3 + ["money"] * 3, "labels": [["grain"], ["grain", "money"], ["grain"], ["money"]] * 2}
LABELS["labels"] = [*LABELS["labels"][:5], []]
# Fits of words that nothing holds go on until max_iter; a small one, since the question is what becomes of tables.
_FEW = "max_iter=10"
_LINEAR = (f"linear:{_FEW}", f"linear:prior=gaussian,{_FEW}")
MODELS = (*_LINEAR, f"linear:link=probit,{_FEW}", f"multinomial:{_FEW}", "counts", "counts:model=poisson")
MODELS += ("counts:model=bernoulli", "online", _LINEAR)
WORDS = ("wheat", "corn", "bank", "rates", "rye", "the bank", "harvest of wheat", "loans and loans", "a.b", "é", "=1+1")
MEANS = ("0", "1", "-1", "2.5", "-0.001", "1e-300", "5e-324", "1e4", "-1e4", "9999", "1000", "for", "against", "", "")
SCALES = ("1", "0.5", "0.001", "1e-5", "1e-6", "1e6", "1e5", "inf", "", "")
ODD = (
    "1e300",
    "-1e308",
    "1e-300",
    "5e-324",
    "1e7",
    "1e6",
    "-inf",
    "nan",
    "1e999",
    "1_0",
    "0x10",
    "１",
    "−3",
    "0",
    "-1",
    "x",
)


def made_table(rng: random.Random) -> bytes:
    """A table of CSV whose rows have the right form, most of them with numbers that may be, however large or small."""
    families = ("", "", "", "", *priors.names())
    rows = ["word,label,mean,scale,family,sign,source"]
    odd = rng.choice((0.0, 0.0, 0.1))
    for word in rng.sample(WORDS, rng.choice((1, 2, 3, 8))):
        mean, scale = (rng.choice(ODD if rng.random() < odd else sound) for sound in (MEANS, SCALES))
        sign = rng.choice(("", "", "0", "-" if mean.startswith("-") or mean == "against" else "+"))
        label = rng.choice(("grain", "money", "*", "", "ship"))
        rows.append(",".join([word, label, mean, scale, rng.choice(families), sign, "x"]))
    return "\n".join(rows).encode()


def mutate(rng: random.Random) -> tuple[str, tuple[str, bytes, str | tuple[str, ...], str, float | str]]:
    """A table, the kind of model it is told to, the labels it has, and how far it is to follow the table."""
    if rng.random() < 0.6:
        what, ending, data = "rows", ".csv", made_table(rng)
    else:
        seed = rng.choice([*seeds.SEEDS["prior_csv"], *seeds.SEEDS["prior_yaml"]])
        what, data = mutated(rng, seed.data, seed.tokens)
        ending = seed.ending
    spec, labels = rng.choice(MODELS), rng.choice(sorted(LABELS))
    if str(spec).startswith("multinomial"):
        labels = "classes"
    return f"{what}, {spec}, {labels}", (ending, data, spec, labels, rng.choice((1.0, 1.0, 0.5, "auto")))


def target(made: tuple[str, bytes, str | tuple[str, ...], str, float | str]) -> str:
    """Read the table, train, save, load and answer."""
    ending, data, spec, labels, weight = made
    with tempfile.TemporaryDirectory() as folder:
        path, model_file = Path(folder, f"prior{ending}"), Path(folder, "model.tb")
        path.write_bytes(data)
        table = WordPriors.read(path)
        for text, format in ((table.to_csv(), ".csv"), (table.to_yaml(), ".yaml")):
            again = Path(folder, f"again{format}")
            again.write_text(text, encoding="utf-8", newline="")
            if len(table) < 1_000 and WordPriors.read(again) != table:
                raise worker.LateFailureError(f"written as {format} it is another table")
        if len(table) > 200:
            return "read"  # a long one takes long by right
        one = spec if isinstance(spec, str) else list(spec)
        model = TextCategorizer(model=one, cv=2, prior=table, prior_weight=weight, n_jobs=1)
        model.fit(TEXTS, LABELS[labels])
        proba = model.predict_proba(TEXTS)
        if not np.isfinite(proba).all():
            raise worker.LateFailureError(f"probabilities are not finite: {proba.tolist()}")
        save_model(model, model_file)
        try:
            loaded = load_model(model_file)
        except Exception as error:
            raise worker.LateFailureError(f"what was saved cannot be loaded: {error}") from error
        if not np.array_equal(loaded.predict_proba(TEXTS), proba):
            raise worker.LateFailureError("the loaded model answers otherwise")
        if loaded.prior_table_ != model.prior_table_:
            raise worker.LateFailureError("the loaded model has another prior table")
    return "trained"


def run(n: int, seed: int, seconds: float | None = None) -> worker.Findings:
    """Mutations; a sound table is used with every kind of model before, so that the child has compiled all."""
    for spec in MODELS:
        target((".csv", b"word,label,mean,scale\nwheat,grain,1,0.5\nrye,*,0.1,\n", spec, "classes", "auto"))
    return worker.run(target, mutate, n, seed, seconds)


if __name__ == "__main__":
    run(0, 0)
    sys.exit(worker.main(target, mutate))

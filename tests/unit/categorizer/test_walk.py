"""From the name of a model to its saved weights: the types that docs/design.md lists, each made from those before."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from textbayes import BayesLinearClassifier, TextCategorizer, load_model, save_model
from textbayes.categorizer import train
from textbayes.categorizer.ensemble import Ensemble, Part
from textbayes.categorizer.model_types import make_model
from textbayes.categorizer.plan import Member, Plan
from textbayes.categorizer.sources import Target, TextSource
from textbayes.inference import coordinate
from textbayes.inference.base import Posterior, Problem

ROOT = Path(__file__).parents[3]
TEXTS = ["wheat corn crop", "bank loan rate", "corn harvest wheat", "rate bank bond"] * 5
LABELS = ["grain", "money"] * 10


def test_a_weight_passes_through_the_listed_types_alone(tmp_path, monkeypatch):
    seen, solved = {}, []

    def watched(plan, source, target, *args, **named):
        seen.update(plan=plan, source=source, target=target)
        return train.train(plan, source, target, *args, **named)

    def solve(self, problem, *args):
        found = run(self, problem, *args)
        solved.append((problem, found))
        return found

    run = coordinate.Coordinate.run
    monkeypatch.setattr("textbayes.categorizer.estimator.train", watched)
    monkeypatch.setattr(coordinate.Coordinate, "run", solve)
    estimator = make_model("linear:prior=laplace,scale=5.0")
    model = TextCategorizer(model="linear:prior=laplace,scale=5.0", cv=2).fit(TEXTS, LABELS)
    [member] = seen["plan"].members
    problem, posterior = solved[-1]  # the fit to all texts
    [part] = model.model_.parts
    walked = [
        (BayesLinearClassifier, estimator), (Member, member), (Plan, seen["plan"]), (TextSource, seen["source"]),
        (Target, seen["target"]), (Problem, problem), (Posterior, posterior), (Part, part), (Ensemble, model.model_),
        (TextCategorizer, model),
    ]  # fmt: skip
    assert all(isinstance(one, kind) for kind, one in walked)
    assert type(member.estimator) is type(part.model) is BayesLinearClassifier
    assert len(problem.y) == len(TEXTS)
    np.testing.assert_array_equal(np.ravel(posterior.mean), np.ravel(part.model.coef_))
    save_model(model, tmp_path / "m.tb")
    np.testing.assert_array_equal(load_model(tmp_path / "m.tb").coef_, model.coef_)
    [listed] = re.findall(r"The types in bold are all that a weight passes through:(.*?)\(", DESIGN, re.DOTALL)
    assert {kind.__name__ for kind, _ in walked} == set(re.findall(r"`([A-Z]\w+)`", listed))
    assert len(walked) <= 10


DESIGN = (ROOT / "docs/design.md").read_text(encoding="utf-8")


def test_the_page_fits_on_four_screens():
    lines = DESIGN.splitlines()
    assert len(lines) <= 4 * 50
    assert max(len(line) for line in lines if not line.startswith(("$$", "|"))) <= 122

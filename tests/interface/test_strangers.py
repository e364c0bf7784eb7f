"""Parts that are added from outside of the package work like those inside: through training, files and commands.

They are registered for good, so each script runs in a process of its own: a fork of one that has imported the
stranger's file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
# Scripts as lines of JSON; of each the exit code. What they print goes to files.
FORKS = """
import json, os, sys, traceback
import references.strangers

for line in sys.stdin:
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    for number, name in enumerate(("out", "errors"), start=1):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    code = 1
    try:
        exec(json.loads(line), {"__name__": "__main__"})
        code = 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
"""


@pytest.fixture(scope="module")
def stranger(tmp_path_factory, documents):
    """Runs a script after the stranger's parts were imported, in a folder with texts in the stranger's format."""
    folder = tmp_path_factory.mktemp("stranger")
    rows = [f"{doc['labels']}\t{doc['text']} {number}\n" for number, doc in enumerate(documents * 4)]
    (folder / "texts.labelled").write_text("".join(rows), encoding="utf-8")

    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    with subprocess.Popen(
        [sys.executable, "-c", FORKS], cwd=folder, env=os.environ | {"PYTHONPATH": path},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as parent:  # fmt: skip

        def run(script: str) -> str:
            print(json.dumps(script), file=parent.stdin, flush=True)
            assert parent.stdout.readline() == "0\n", (folder / "errors").read_text(encoding="utf-8")
            return (folder / "out").read_text(encoding="utf-8")

        yield run


TRAIN = """
import numpy as np
from textbayes import TextCategorizer, load_model, save_model
from textbayes.data import open_documents
found = list(open_documents("texts.labelled"))
texts, labels = [one.text for one in found], [one.labels[0] for one in found]
model = TextCategorizer({settings}).fit(texts, labels)
save_model(model, "m.tb")
again = load_model("m.tb")
np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
assert (again.predict(texts) == np.array(labels)).mean() > 0.9
assert again.label_words("grain", 5) and again.explain("wheat and corn", ["grain"])[0].contributions
"""


def test_a_prior_with_a_hyperparameter_of_its_own(stranger):
    stranger(
        TRAIN.format(settings="model=BayesLinearClassifier(prior=Bounded(scale=4.0, share=0.25), intervals=True)")
        .replace("import TextCategorizer", "import BayesLinearClassifier, TextCategorizer")
        .replace("found = list", "from references.strangers import Bounded\nfound = list", 1)
        + "assert float(again.model.prior.share) == 0.25\n"
        + "again.update(texts[:3], labels[:3])\n"
        + "from textbayes.export import export_scoring\nexport_scoring(model, 'm.json')\n"
    )


def test_a_decision_rule(stranger):
    stranger(
        TRAIN.format(settings="rule=Median(share=0.4), preset='linear'")
        .replace("> 0.9", "> 0.6")
        .replace("found = list", "from references.strangers import Median\nfound = list", 1)
        + "assert again.rule_.name == 'median' and again.rule_.share == again.rule.share == 0.4\n"
        + "assert (again.rule_.spread_ == model.rule_.spread_).all()\n"
    )


def test_a_vectorizer_with_a_parameter_of_its_own(stranger):
    said = stranger(
        "from references.strangers import FirstLetters\n"
        + TRAIN.format(settings="vectorizer=FirstLetters(width=4), preset='linear', intervals=True")
        + "assert again.vectorizer_.width == again.vectorizer.width == 4\n"
        + "assert again.vectorizer_.beginnings_ == model.vectorizer_.beginnings_\n"
        + "again.update(texts[:3], labels[:3])\n"
        + """
from textbayes.core.errors import TextBayesError
from textbayes.export import export_scoring
try:
    export_scoring(model, "m.json")
except TextBayesError as error:
    print(error)
"""
    )
    assert "cannot be exported" in said


def test_a_model_type_by_name_and_its_refusals(stranger):
    said = stranger(
        TRAIN.format(settings="model='overlap:sharpness=2'")
        + """
from textbayes.core.errors import TextBayesError
from textbayes.export import export_scoring
for what in (lambda: again.update(texts, labels), lambda: export_scoring(model, "m.json")):
    try:
        what()
    except TextBayesError as error:
        print(error)
"""
    )
    assert "cannot be updated" in said
    assert "cannot be exported" in said


def test_a_model_type_as_a_member_of_the_automatic_ensemble(stranger):
    said = stranger(
        "from references.strangers import Overlap\nfrom textbayes.categorizer.plan import candidates\n"
        "candidates['overlap'] = Overlap\n"
        + TRAIN.format(settings="")
        + "import json; print(json.dumps([one['name'] for one in again.choice_['members']]))\n"
        + "print([part.model.model_type for part in again.model_.parts])\n"
        + "one = again.explain('wheat and corn', ['grain'])[0]\n"
        + "total = one.base + sum(part.log_odds for part in one.contributions)\n"
        + "assert abs(total - one.log_odds) < 1e-6 * max(1.0, abs(one.log_odds)) + 1e-6\n"
    )
    names, kinds = said.splitlines()
    assert "overlap, words" in json.loads(names)
    assert "overlap" in kinds
    assert "linear" in kinds

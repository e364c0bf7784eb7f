"""Inferences by name, with parameters after a colon, in Python and on the command line."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from textbayes import BayesLinearClassifier, load_model
from textbayes.cli.main import cli
from textbayes.core.errors import InputError
from textbayes.inference import make_inference
from textbayes.inference.em import Em


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # seven steps
def test_plain_em_by_name_is_the_object():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X[:, 0] > 0.3 * rng.normal(size=60)
    fits = [
        BayesLinearClassifier("probit", prior="laplace", inference=one, max_iter=7).fit(X, y)
        for one in ("em:plain=true", "em:plain=true,max_iter=7", Em(max_iter=7, plain=True), "em")
    ]
    for one in fits[1:3]:
        np.testing.assert_array_equal(fits[0].coef_, one.coef_)
    assert fits[0].n_iter_ == 7
    assert not np.array_equal(fits[0].coef_, fits[3].coef_)


def test_a_parameter_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"inference 'em' has no parameter 'plian'.*did you mean 'plain'"):
        make_inference("em:plian=true")


def test_on_the_command_line(tmp_path):
    rows = [f"{word} {noun},{label}" for word, label in (("corn", "grain"), ("bank", "money")) for noun in "abcdefghij"]
    (tmp_path / "t.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    given = ["--family", "laplace", "--min-df", "1", "--folds", "2", "--link", "probit"]
    command = ["train", str(tmp_path / "t.csv"), "-o", str(tmp_path / "m.tb"), *given]
    result = CliRunner().invoke(cli, [*command, "--inference", "em:plain=true,tol=0.01"])
    assert result.exit_code == 0, result.output
    assert load_model(tmp_path / "m.tb").model[0].inference == "em:plain=true,tol=0.01"
    refused = CliRunner().invoke(cli, [*command, "--inference", "em:plian=true"])
    assert refused.exit_code == 2
    assert "no parameter 'plian'" in refused.stderr

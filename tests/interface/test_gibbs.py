"""``train --inference gibbs`` and what the other commands make of such a model, run as a user would."""

from __future__ import annotations

import csv
import io
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from textbayes.inference import inferences
from textbayes.inference.gibbs import Gibbs
from textbayes.store import load_model
from textbayes.store.lock import FileLock

# What the commands do with draws does not depend on how many there are; of so few they warn.
pytestmark = pytest.mark.filterwarnings("ignore:.*sampled less well")
ENOUGH = ("--chains", "2", "--warmup", "20", "--target-ess", "20", "--folds", "2")
FEW = (*ENOUGH, "--draws", "100")
SHORT = ("--inference", "gibbs", *FEW)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory, documents):
    """A model of three labels, trained by the command on a folder of texts."""
    from click.testing import CliRunner

    from textbayes.cli.main import cli

    folder = tmp_path_factory.mktemp("sampled")
    for doc in documents:
        path = folder / "texts" / doc["labels"] / f"{doc['id']}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(doc["text"], encoding="utf-8")
    done = CliRunner().invoke(cli, ["train", str(folder / "texts"), "-o", str(folder / "m.tb"), *SHORT, "--seed", "3"])
    assert done.exit_code == 0, (done.stdout, done.stderr)
    return folder / "m.tb", json.loads(done.stdout)


def test_a_folder_of_texts_makes_a_model_with_draws(sampled):
    path, summary = sampled
    model = load_model(path)
    sizes = [one.intercept.size for one in model.draws_.labels]
    assert summary["draws"] == max(sizes) <= 1000
    assert summary["draws_megabytes"] >= 0.0
    assert (summary["max_r_hat"], summary["min_ess"]) == pytest.approx(model.draws_.worst_diagnostics(), rel=1e-2)
    assert [one.weights.dtype for one in model.draws_.labels] == [np.float32] * 3
    (member,) = model.model
    assert (member.prior, member.inference.random_state, member.inference.plan.chains) == ("laplace", 3, 2)
    assert model.posterior_predictive


def test_show_says_whether_the_chains_agree(sampled, run):
    said = " ".join(run("show", sampled[0], "--table").stdout.split())
    r_hat, ess = load_model(sampled[0]).draws_.worst_diagnostics()
    assert f"; largest R-hat {r_hat:.3f}, smallest ESS {ess:,.0f}: of the intercepts and the 20 largest" in said


def test_words_with_intervals_in_every_form(sampled, lines, run):
    path, _ = sampled
    rows = lines("words", path, "--intervals", "--label", "grain", "--top", "3")
    assert set(rows[0]) == {
        "label", "rank", "word", "weight", "low", "high", "sd", "sign_probability", "inclusion_probability",
        "weight_of", "form", "level",
    }  # fmt: skip
    assert [row["rank"] for row in rows] == [1, 2, 3]
    for row in rows:
        assert row["low"] < row["weight"] < row["high"]
        assert 0.0 <= row["inclusion_probability"] <= 1.0
    text = run("words", path, "--intervals", "--csv").stdout
    assert next(csv.reader(io.StringIO(text)))[2:] == [
        "word", "form", "weight", "low", "high", "sd", "sign_probability", "inclusion_probability", "level", "weight_of"
    ]  # fmt: skip
    assert "P(sign)" in run("words", path, "--intervals", "--table").stdout
    by_sign = lines("words", path, "--by", "sign", "--label", "money")
    sure = [abs(row["sign_probability"] - 0.5) for row in by_sign]
    assert sure == sorted(sure, reverse=True)
    none, all_ = (lines("words", path, "--by", "inclusion", "--size", size)[0] for size in ("1000", "0"))
    assert (none["inclusion_probability"], all_["inclusion_probability"]) == (0.0, 1.0)
    columns = {"label", "rank", "word", "weight", "contribution", "texts", "weight_of"}
    assert set(lines("words", path)[0]) == columns


def test_a_wider_level_is_a_wider_interval(sampled, lines):
    path, _ = sampled
    usual, narrow = lines("words", path, "--intervals")[0], lines("words", path, "--intervals", "--level", "0.5")[0]
    stated = lines("words", path, "--intervals", "--level", "0.95")[0]
    assert usual == stated
    assert usual["low"] < narrow["low"] < narrow["high"] < usual["high"]


def test_texts_with_intervals(sampled, lines, run, write):
    path, _ = sampled
    texts = write([{"id": "1", "text": "corn harvest"}, {"id": "2", "text": ""}])
    first, empty = lines("classify", path, texts, "--intervals")
    assert first["labels"] == ["grain"]
    for row in (first, empty):
        assert set(row["intervals"]) == {"grain", "money", "sport"}
        assert all(0.0 <= low <= high <= 1.0 for low, high in row["intervals"].values())
    header = run("classify", path, texts, "--intervals", "--csv").stdout.splitlines()[0]
    assert header.endswith("low_grain,high_grain,low_money,high_money,low_sport,high_sport")
    assert " to " in run("classify", path, texts, "--intervals", "--table").stdout
    assert "intervals" not in lines("classify", path, texts)[0]


def test_two_classes_have_intervals_that_mirror_each_other(lines, run, write, documents, tmp_path):
    run("train", write([doc for doc in documents if doc["labels"] != "sport"]), "-o", tmp_path / "two.tb", *SHORT)
    (row,) = lines("classify", tmp_path / "two.tb", "--intervals", stdin="corn and the bank\n")
    (low, high), (other_low, other_high) = row["intervals"]["grain"], row["intervals"]["money"]
    assert (1.0 - high, 1.0 - low) == pytest.approx((other_low, other_high))
    grain = lines("words", tmp_path / "two.tb", "--intervals", "--label", "grain")[0]
    money = lines("words", tmp_path / "two.tb", "--intervals", "--label", "money")[0]
    assert (grain["weight"], grain["low"]) == pytest.approx((-money["weight"], -money["high"]))


@pytest.mark.parametrize("kind", ["forest", "trace", "rank"])
def test_plots(sampled, run, kind, tmp_path):
    pytest.importorskip("arviz", reason="needs the extra gibbs")
    out = tmp_path / "words.svg"
    run("words", sampled[0], "--plot", kind, "--output", out, "--label", "grain", "--top", "2")
    assert "corn" in out.read_text(encoding="utf-8")


def test_the_other_commands_take_such_a_model(sampled, lines, write, documents):
    path, _ = sampled
    (told,) = lines("explain", path, "corn and the bank", "--label", "grain")
    assert told["words"]
    (measured,) = lines("evaluate", path, write(documents))
    assert measured["accuracy"] > 0.9


def test_plug_in_refit_and_a_pool(lines, run, write, documents, many_labels, tmp_path):
    run(
        "train",
        write(documents),
        "-o",
        tmp_path / "p.tb",
        *SHORT,
        "--plug-in",
        "--refit-top",
        "2",
        "--refit-by",
        "sign",
    )
    model = load_model(tmp_path / "p.tb")
    assert not model.posterior_predictive
    assert [len(one.columns) for one in model.draws_.labels] == [2, 2, 2]
    run("train", write(many_labels), "-o", tmp_path / "h.tb", *SHORT, "--family", "horseshoe", "--keep-draws", "10")
    model = load_model(tmp_path / "h.tb")
    assert max(one.intercept.size for one in model.draws_.labels) == 10
    assert model.model[0].intercept_scale == "auto"  # with a free one, such a prior has no posterior


def test_the_sampler_is_the_one_that_was_named(run, write, documents, tmp_path, monkeypatch):
    """Commands ask an inference whether it samples, not what it is called."""

    class Other(Gibbs):
        name = "other"

    inferences.names()
    monkeypatch.setitem(inferences._members, "other", Other)
    run("train", write(documents), "-o", tmp_path / "o.tb", "--inference", "other", *FEW)
    model = load_model(tmp_path / "o.tb")
    (member,) = model.model  # the sparse one alone
    assert type(member.inference) is Other
    assert (member.prior, member.inference.plan.max_draws) == ("laplace", 100)
    assert model.draws_ is not None


def test_factors_reach_the_sampler_and_the_model_file(run, write, documents, tmp_path):
    for name, more in (("plain", ()), ("factors", ("--factors", "4"))):
        run("train", write(documents), "-o", tmp_path / f"{name}.tb", *SHORT, "--family", "gaussian", *more)
    plain, factors = (load_model(tmp_path / f"{name}.tb") for name in ("plain", "factors"))
    assert [model.model[0].inference.factors for model in (plain, factors)] == [None, 4]
    assert not np.array_equal(plain.coef_, factors.coef_)
    texts = [doc["text"] for doc in documents]
    again = factors.fit(texts, [doc["labels"] for doc in documents])  # a loaded model can be trained again
    np.testing.assert_array_equal(again.coef_, load_model(tmp_path / "factors.tb").coef_)


def test_a_prior_on_the_scale_reaches_the_sampler_and_the_model_file(run, write, documents, tmp_path):
    """Every text once more under the next label: where words told labels apart, any scale would do, which is said."""
    doubted = documents + [
        {**doc, "id": f"{doc['id']}, again", "labels": other["labels"]}
        for doc, other in zip(documents, documents[5:] + documents[:5], strict=True)
    ]
    told = (*SHORT, "--scale", "2")  # of the one prior that is sampled if --family names none
    for name, more in (("fixed", ()), ("sampled", ("--sample-scale",))):
        run("train", write(doubted), "-o", tmp_path / f"{name}.tb", *told, *more)
    fixed, drawn = (load_model(tmp_path / f"{name}.tb") for name in ("fixed", "sampled"))
    assert [model.model[0].inference.sample_scale for model in (fixed, drawn)] == [False, True]
    assert not np.array_equal(fixed.coef_, drawn.coef_)


def test_a_multinomial_probit_is_trained_saved_and_used(run, lines, write, documents, tmp_path):
    model, texts = tmp_path / "m.tb", write(documents)
    done = run("train", texts, "--model", "multinomial:link=probit", *FEW, "-o", model)
    assert done.exit_code == 0, done.stderr
    assert "probit" in lines("show", model)[0]["model"]
    rows = lines("classify", model, texts)
    assert np.mean([row["labels"] == [doc["labels"]] for row, doc in zip(rows, documents, strict=True)]) > 0.8


def test_judges_reach_the_sampler_and_the_model_file(run, write, documents, tmp_path):
    pytest.importorskip("polyagamma", reason="needs the extra gibbs")
    model = tmp_path / "m.tb"
    run("train", write(documents), "-o", model, *SHORT, "--link", "logit", "--label-replicates", "30")
    found = load_model(model)
    assert found.model[0].inference.label_replicates == 30
    again = found.fit([doc["text"] for doc in documents], [doc["labels"] for doc in documents])
    np.testing.assert_array_equal(again.coef_, load_model(model).coef_)
    failed = run(
        "train",
        write(documents),
        "-o",
        tmp_path / "p.tb",
        *SHORT,
        "--link",
        "probit",
        "--label-replicates",
        "2",
        code=1,
    )
    assert "with the link 'logit' alone; use that, or --label-replicates 1" in failed.stderr
    known = tmp_path / "known.csv"
    known.write_text("word,label,mean\ncorn,grain,3\n", encoding="utf-8")
    judged = ("--link", "logit", "--label-replicates", "2", "--prior", known)
    failed = run("train", write(documents), "-o", tmp_path / "k.tb", *SHORT, *judged, code=1)
    assert "a prior file with --label-replicates 2 is not supported" in failed.stderr
    assert "leave out the file, or use --label-replicates 1" in failed.stderr


@pytest.mark.parametrize("kind", ["linear", "multinomial"])
def test_a_kind_that_samples_takes_the_options_of_the_sampler(run, write, documents, tmp_path, kind):
    if kind == "multinomial":
        pytest.importorskip("polyagamma", reason="needs the extra gibbs")
    path, settings = tmp_path / "m.tb", FEW
    run("train", write(documents), "-o", path, "--model", f"{kind}:inference=gibbs", *settings, "--seed", "3")
    found = load_model(path)
    (member,) = found.model
    assert (member.inference.random_state, member.inference.plan.chains, member.inference.plan.warmup) == (3, 2, 20)
    drawn = found.draws_ if kind == "linear" else found.model_.members[0].draws_
    assert drawn is not None
    assert found.posterior_predictive
    refused = run("train", write(documents), "-o", path, "--model", f"{kind}", "--chains", "2", code=2)
    assert "--chains is a setting of the sampler" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--chains", "2"), "--chains is a setting of the sampler; give --inference gibbs as well"),
        (("--draws", "100", "--inference", "newton"), "--draws is a setting of the sampler"),
        (("--plug-in",), "--plug-in is a setting of the sampler"),
        (("--checkpoint", "run"), "--checkpoint is a setting of the sampler"),
        (("--factors", "3"), "--factors is a setting of the sampler"),
        (("--label-replicates", "3"), "--label-replicates is a setting of the sampler"),
        (("--inference", "gibbs", "--chains", "0"), "--chains"),
    ],
)
def test_wrong_usage(run, write, documents, tmp_path, arguments, words):
    assert words in run("train", write(documents), "-o", tmp_path / "m.tb", *arguments, code=2).stderr


def test_what_cannot_be_done_is_said(run, models, write, documents, tmp_path, sampled):
    failed = run("words", models["binary"], "--intervals", code=1)
    assert "this model was trained without intervals; train it with --intervals" in failed.stderr
    said = run("words", models["binary"], "--by", "sign", code=1).stderr
    assert "was not sampled; train it with" in said
    assert "textbayes train --inference gibbs" in said
    assert "go together" in run("words", sampled[0], "--plot", "forest", code=2).stderr
    assert "end it in" in run("words", sampled[0], "--plot", "forest", "--output", tmp_path / "x.txt", code=1).stderr
    jeffreys = run("train", write(documents), "-o", tmp_path / "m.tb", *SHORT, "--family", "jeffreys", code=1)
    assert "cannot take prior 'jeffreys'" in jeffreys.stderr
    one_class = write([doc for doc in documents if doc["labels"] == "grain"], "one.jsonl")
    assert "at least two" in run("train", one_class, "-o", tmp_path / "m.tb", *SHORT, code=1).stderr
    assert not (tmp_path / "m.tb").exists()


def test_a_killed_run_goes_on_with_the_same_command(start, run, write, documents, tmp_path):
    """Ctrl-C in the middle, the same command again: the file is that of an uninterrupted run, to the byte."""
    texts = write(documents)
    longer = {"--target-ess": "300", "--draws": "400"}
    long = tuple(longer.get(before, one) for before, one in zip(("", *SHORT), SHORT, strict=False))

    def command(name):
        return ("train", texts, "-o", tmp_path / f"{name}.tb", *long, "--checkpoint", tmp_path / name)

    run(*command("whole"))
    assert not (tmp_path / "whole").exists()
    process = start(*command("killed"))
    deadline = time.monotonic() + 300
    while not list((tmp_path / "killed").glob("*.label1.state")) and time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    said = process.communicate()[1].decode()
    assert process.returncode == 130, said
    assert "the same command goes on with it" in said
    assert not (tmp_path / "killed.tb").exists()
    assert list((tmp_path / "killed").glob("*.state"))

    other = [str(part) for part in command("killed")]
    other[other.index("--chains") + 1] = "3"
    assert "begun with other chains; go on with what it was begun with" in run(*other, code=1).stderr
    texts.write_text(texts.read_text().replace("wheat", "rye"))
    assert "begun with other texts" in run(*command("killed"), code=1).stderr
    texts.write_text(texts.read_text().replace("rye", "wheat"))

    resumed = run(*command("killed"))
    assert "going on with the run" in resumed.stderr
    assert (tmp_path / "killed.tb").read_bytes() == (tmp_path / "whole.tb").read_bytes()
    assert not (tmp_path / "killed").exists()


def test_two_processes_do_not_sample_into_one_folder(run, write, documents, tmp_path):
    lock = FileLock(tmp_path / ".run.lock")
    lock.acquire()  # as another process has it
    command = ("train", write(documents), "-o", tmp_path / "m.tb", *SHORT, "--checkpoint", tmp_path / "run")
    assert f"another process is sampling into {tmp_path / 'run'}" in run(*command, code=1).stderr
    assert not (tmp_path / "run").exists()
    lock.release()
    run(*command)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.tb", "texts.jsonl"]


def test_progress_shows_draws_and_diagnostics(on_terminal, write, documents, tmp_path):
    sampled = ("--inference", "gibbs", *ENOUGH)  # a warning is an error there
    shown, _ = on_terminal("train", write(documents), "-o", tmp_path / "m.tb", *sampled, stream="stderr")
    assert "fold 1 of 2: grain" in shown
    assert "all texts: sport" in shown
    assert "R-hat 1." in shown
    assert "ESS" in shown


def test_the_options_cost_nothing_before_they_are_used():
    code = "import sys, textbayes.cli.train; print([name for name in ('sklearn', 'numba') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_an_update_says_that_the_draws_are_gone_and_so_does_a_plot(sampled, run, write, tmp_path):
    path, _ = sampled
    more = write([{"id": "new", "text": "corn and wheat for the team", "labels": "grain"}])
    after = tmp_path / "after.tb"
    assert "and no draws" in " ".join(run("update", path, more, "-o", after).stderr.split())
    said = run("words", after, "--plot", "trace", "-o", tmp_path / "trace.svg", code=1).stderr
    assert "or it was updated since" in " ".join(said.split())

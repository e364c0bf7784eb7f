"""No output replaces what the command reads or another of its outputs, by whatever name it goes."""

from __future__ import annotations

import pytest


@pytest.fixture
def prior(tmp_path):
    path = tmp_path / "prior.csv"
    path.write_text("word,label\ncorn,grain\n")
    return path


def refused(run, path, *command):
    before = path.read_bytes()
    failed = run(*command, code=1)
    assert "internal error" not in failed.stderr
    assert path.read_bytes() == before
    return failed.stderr


def test_a_link_to_the_input(run, write, documents, tmp_path):
    path, link = write(documents), tmp_path / "link.tb"
    link.symlink_to(path)
    assert "which the command was given as an input too" in refused(run, path, "train", path, "-o", link)
    assert link.is_symlink()


def test_the_prior_file_of_a_training(run, write, documents, prior):
    refused(run, prior, "train", write(documents), "--prior", prior, "-o", prior)


def test_a_file_of_a_folder_that_is_read(run, tmp_path):
    for label, text in (("grain", "corn"), ("money", "bank")):
        (tmp_path / "texts" / label).mkdir(parents=True)
        (tmp_path / "texts" / label / "1.txt").write_text(text)
    path = tmp_path / "texts" / "grain" / "1.txt"
    assert "is a file of the folder" in refused(run, path, "train", tmp_path / "texts", "-o", path)


def test_an_output_in_the_folder_that_is_read_may_be_made_again(run, tmp_path):
    for label, text in (("grain", "corn"), ("money", "bank")):
        (tmp_path / "texts" / label).mkdir(parents=True)
        for number in range(4):
            (tmp_path / "texts" / label / f"{number}.txt").write_text(f"{text} {number}")
    for _ in range(2):
        run("train", tmp_path / "texts", "-o", tmp_path / "texts" / "model.tb")


def test_exports_into_the_folder_of_a_screening_may_be_made_again(run, tmp_path):
    references = tmp_path / "references.ris"
    references.write_text("".join(f"TY  - JOUR\nID  - r{i}\nTI  - Tea {i}\nAB  - Green.\nER  - \n\n" for i in range(6)))
    folder = tmp_path / "reading"
    run("screen", "start", folder, references)
    for _ in range(2):
        run("screen", "export", folder, "-o", folder / "out.csv")
    for own in ("records.jsonl", "log.jsonl"):
        refused(run, folder / own, "screen", "export", folder, "-o", folder / own)
    mine = folder / "records_mine.jsonl"
    run("screen", "export", folder, "-o", mine)
    more = tmp_path / "more.ris"
    more.write_text("TY  - JOUR\nID  - r9\nTI  - Tea nine\nAB  - Black.\nER  - \n")
    run("screen", "add", folder, more)
    assert mine.exists()
    assert len(list(folder.glob("records-*.jsonl"))) == 1


def test_the_model_of_a_prior_file(run, models, tmp_path):
    model = tmp_path / "model.csv"
    model.write_bytes(models["binary"].read_bytes())
    assert "--model" in refused(run, model, "prior", "--model", model, "-o", model)


def test_an_update_may_replace_its_model_and_nothing_else(run, models, write, documents):
    texts = write(documents)
    refused(run, texts, "update", models["binary"], texts, "-o", texts)


def test_a_model_that_could_not_be_loaded_is_not_written(run, write, documents, models, tmp_path, monkeypatch):
    """Whatever makes it so: the file of before stays."""
    from textbayes.text import TermWeighting

    path, model = write(documents), tmp_path / "model.tb"
    model.write_bytes(models["binary"].read_bytes())
    fit = TermWeighting.fit

    def broken(self, *given):
        fitted = fit(self, *given)
        fitted.idf_ = fitted.idf_ * 1e300
        return fitted

    monkeypatch.setattr(TermWeighting, "fit", broken)
    failed = refused(run, model, "train", path, "-o", model, "--model", "counts")
    assert "this model cannot be kept in a file" in failed
    assert sorted(one.name for one in tmp_path.iterdir()) == ["model.tb", "texts.jsonl"]


def test_absurd_prior_rows_are_refused_with_their_line(run, write, documents, prior, tmp_path):
    for row, cause in (("1e300,1e-300", "mean 1e+300"), ("1,1e-300", "scale 1e-300"), ("1,1e30", "scale 1e+30")):
        prior.write_text(f"word,label,mean,scale\ncorn,grain,{row}\n")
        failed = run("train", write(documents), "--prior", prior, "-o", tmp_path / "m.tb", code=1)
        assert f"prior.csv, line 2: {cause}" in failed.stderr
        assert not (tmp_path / "m.tb").exists()

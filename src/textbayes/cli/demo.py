"""``textbayes demo``: train and evaluate on the embedded corpus, explain, and write an HTML report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes import categorizer, report
from textbayes import data as catalogue
from textbayes.cli.options import option, seed_option
from textbayes.cli.output import console, to_json
from textbayes.cli.terminal import common_options, echo, reporting
from textbayes.core.errors import InputError
from textbayes.core.progress import Progress, silent

if TYPE_CHECKING:
    from textbayes.data import Corpus
    from textbayes.report import ReportData


@cloup.command()
@option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("reports/demo.html"),
    help="Where the HTML report goes; the folder is made if needed.",
)
@seed_option("Of the cross-validation folds.")
@option("--jobs", "n_jobs", type=int, default=-1, help="Threads; −1 is all cores.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON object instead of tables.")
@common_options
def demo(output: Path, seed: int, n_jobs: int, as_json: bool) -> None:
    """Train, evaluate and explain on a corpus of BBC news.

    Learns the topics of 1,114 BBC news stories with the default model, tries it on 1,111 others, prints figures, the
    strongest words and three explained decisions, and writes an HTML report. Nothing is downloaded.
    """
    start = time.perf_counter()
    with reporting() as progress:
        data = run_demo(seed, n_jobs, progress)
    screen = console()
    if not as_json:
        report.print_report(data, screen)
    _make_folder(output.parent)
    report.write_report(output, data)
    seconds = time.perf_counter() - start
    if as_json:
        echo(to_json(figures(data, output, seconds)))
    else:
        echo(f"\nReport: {output}")
        echo(f"Took {seconds:.1f} s, {dict(data.timings)['Training']:.1f} s of it training.")


def run_demo(seed: int = 0, n_jobs: int = -1, progress: Progress | None = None) -> ReportData:
    """Load the corpus, train the default model on its training half and collect a report on the test half.

    The test half is looked at once, at the end; nothing is chosen on it.
    """
    from textbayes.categorizer.presets import default_models

    report.check_report_extra()
    tell = progress or silent
    tell("reading the stories", 0, 1)
    corpus, loading = _timed(lambda: catalogue.load_corpus("bbc"))
    tell("reading the stories", 1, 1)
    train, test = corpus.train, corpus.test
    model = categorizer.TextCategorizer(random_state=seed, n_jobs=n_jobs, encoder="off")
    model, training = _timed(lambda: model.fit(train.texts, train.targets, progress=progress))
    assessment, assessing = _timed(lambda: model.assess(test.texts))
    members = [member.settings_description() for member in default_models()]
    return report.collect_report(
        model,
        test.texts,
        test.targets,
        ids=test.ids,
        assessment=assessment,
        title="textbayes demo: BBC news in five topics",
        corpus=f"{len(corpus):,} BBC news stories of 2004–05 in {len(corpus.label_names)} topics, one topic each.",
        split=f"Training set: the {len(train):,} stories with odd numbers. All figures are for the {len(test):,} "
        "held-out stories with even numbers.",
        settings=[
            ("Model" if len(members) == 1 else "Models in the ensemble", "; ".join(members)),
            ("Seed", str(seed)),
        ],
        notes=[*_repeated(train, test, assessment.decisions), *(f"{note}." for note in corpus.notes)],
        timings={"Reading the stories": loading, "Training": training, "Deciding on the held-out half": assessing},
    )


def figures(data: ReportData, output: Path, seconds: float) -> dict[str, Any]:
    """Output of ``--json``: the measures as ``textbayes evaluate`` has them, then words, decisions and times."""
    return data.measures | {
        "notes": data.notes,
        "words": {group.label: {word.word: word.weight for word in group.words} for group in data.words},
        "decisions": [_decision(asdict(example)) for example in data.examples],
        "seconds": seconds,
        "training_seconds": dict(data.timings)["Training"],
        "versions": dict(data.versions),
        "report": str(output),
    }


def _decision(example: dict[str, Any]) -> dict[str, Any]:
    """An explained decision without the page's layout."""
    layout = ("fragments", "n_shown", "n_characters", "probabilities", "reasons")
    reasons = [
        {name: reason[name] for name in ("label", "probability", "log_odds", "base")}
        | {"words": {word[0]: word[2] for word in reason["words"]}}
        for reason in example["reasons"]
    ]
    rest = {name: value for name, value in example.items() if name not in layout}
    return rest | {"probabilities": dict(example["probabilities"]), "reasons": reasons}


def _repeated(train: Corpus, test: Corpus, decisions: Any) -> list[str]:
    """The corpus holds some stories twice: say how many were seen in training, and the accuracy without them."""
    seen = set(train.texts)
    fresh = [i for i, text in enumerate(test.texts) if text not in seen]
    if len(fresh) == len(test) or not fresh:
        return []
    truth, _ = test.encode()
    right = (truth[fresh] == decisions[fresh]).all(axis=1).mean()
    return [
        f"{len(test) - len(fresh)} of the held-out stories also occur word for word in the training half; "
        f"without them the accuracy is {100.0 * right:.1f}%."
    ]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"{folder} cannot be made ({error.strerror}); choose another place for the report with --output"
        ) from error


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    return work(), time.perf_counter() - start

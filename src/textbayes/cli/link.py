"""``textbayes link``: does another link than the usual ones pay on these texts?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import cloup

from textbayes.cli.inputs import Inputs, input_options
from textbayes.cli.labelled import read_labelled
from textbayes.cli.labelling import Labelling, label_options
from textbayes.cli.options import COUNT, jobs_option, mirrored, most_used, seed_option
from textbayes.cli.output import Output, console, make_table, output_options
from textbayes.cli.parameters import NameOption, RegistryName
from textbayes.cli.progress import waiting
from textbayes.cli.settings import common_options, note
from textbayes.cli.terminal import echo
from textbayes.cli.text_options import TextChoices, text_options
from textbayes.core.wording import plural

if TYPE_CHECKING:
    from textbayes.tune import LinkReport

_REPORT = "textbayes.tune.links:link_report"


@cloup.command()
@most_used("family", "scales", "cv", "text_field", "label_field", "corpus", "as_json")
@label_options()
@cloup.option_group(
    "Comparison",
    click.option(
        "--family",
        cls=NameOption,
        type=RegistryName("textbayes.priors:priors"),
        default="laplace",
        show_default=True,
        help="Family of the words' priors.",
    ),
    click.option("--scales", type=COUNT, default=5, show_default=True, help="Prior scales to try."),
    mirrored(_REPORT, "--folds", "cv", type=click.IntRange(min=2), help="Of cross-validation."),
    jobs_option,
    seed_option("Of the folds.", "random_state"),
)
@text_options
@input_options(usual_part="train")
@output_options
@common_options
def link(
    inputs: Inputs,
    labelling: Labelling,
    family: str,
    text: TextChoices,
    n_jobs: int | None,
    output: Output,
    **search: Any,
) -> None:
    """Compare link functions: heavy tails, asymmetry.

    Compares logit, probit, Student-t and skewed Student-t links on held-out texts, each with the best scale of its
    prior, and the best degrees of freedom and skewness, found on the other folds. Verdicts rest on paired tests. Takes
    minutes on a thousand texts: every link is cross-validated at every scale.

    Every label is a yes-or-no question of its own here (of two classes the second), and the log-loss is that of its
    decisions.

    \b
    textbayes link train.jsonl
    textbayes train train.csv --link skew_t:df=1,skew=1.5 --family laplace -o m.tb
    """
    given = read_labelled(inputs, labelling)
    from textbayes.core.folds import stratified_folds
    from textbayes.core.labels import encode_labels
    from textbayes.text.copies import copies_in_words, find_copies, text_sketches
    from textbayes.tune import link_report

    vectorizer = text.vectorizer()
    X = text.term_weighting().fit_transform(vectorizer.fit_transform(given.texts))
    note(f"comparing links on {plural(X.shape[0], 'text')} and {plural(X.shape[1], 'word')}")
    copies = find_copies(text_sketches(given.texts, vectorizer))
    if told := copies_in_words(copies.numbers(), len(given.texts)):
        note(told)
        n_folds = min(search["cv"], len(given.texts))
        positive, _ = encode_labels(given.labels)
        search["cv"] = stratified_folds(positive, n_folds, search["random_state"], copies=copies.first)
    with waiting("cross-validating links and scales"):
        report = link_report(X, given.labels, prior=family, n_jobs=n_jobs or -1, **search)
    rows = _rows(report)
    if not output.is_table:
        output.write(rows, list(rows[0]))
        for verdict in report.verdicts():
            note(verdict)
        return
    table = make_table("label", "links", "chosen", "log-loss per decision", "F1", right=("log-loss per decision", "F1"))
    for row in rows:
        table.add_row(row["label"], row["links"], row["chosen"], f"{row['log_loss']:.5f}", f"{row['f1']:.4f}")
    console().print(table)
    for verdict in report.verdicts():
        echo(verdict)


def _rows(report: LinkReport) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "links": family,
            "chosen": report.links[i][j],
            "scale": float(report.scale[i, j]),
            "log_loss": float(report.log_loss[i, j]),
            "log_loss_per": "decision",
            "f1": float(report.f1[i, j]),
        }
        for j, label in enumerate(report.labels)
        for i, family in enumerate(report.families)
    ]

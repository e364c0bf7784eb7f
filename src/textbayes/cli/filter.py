"""``textbayes filter`` and ``textbayes judge``: a stream in, what to read and to judge out; it learns as it goes."""

from __future__ import annotations

import functools
import re
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import cloup

from textbayes.cli.inputs import Inputs, check_filter_path, input_options, is_model, model_file
from textbayes.cli.labels import Labelling, label_options
from textbayes.cli.options import (
    COUNT,
    SEED,
    Checked,
    FloatRange,
    LinkSpec,
    NameOption,
    imported,
    jobs_option,
    most_used,
    option,
    signature_defaults,
    stemmer_option,
    stop_words_option,
)
from textbayes.cli.output import Output, output_options
from textbayes.cli.terminal import common_options, echo, note, warn
from textbayes.core.errors import InputError, MalformedFileError
from textbayes.data.streams import open_file
from textbayes.stream.judgements import (
    Judgement,
    give_judgements,
    parse_judgement,
    parse_relevant,
    read_config,
    read_ledger,
)

# The help says the defaults of the settings (tested).
_SETTING = signature_defaults("textbayes.stream.settings:FilterSettings")
_TEXT = ("stemmer", "stop_words")
_LONGEST = 1 << 20  # bytes of a line
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}


def parse_moment(text: str) -> float:
    """Seconds of a moment: so long ago, such as 1d or 12h, or a date, such as 2026-11-15 or 2026-11-15T08:00."""
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if found is not None:
        return time.time() - int(found[1]) * _UNITS[found[2]]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise InputError(f"{text!r} is no moment; write 1d (or m, h, w), or a date such as 2026-11-15") from None


def filter_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options below; the command is given those that were used as ``changes``, those of words as ``text``."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        changes = {name: given.pop(name) for name in _SETTING if name in given}
        text = {name: given.pop(name) for name in _TEXT}
        return function(
            *args,
            changes={name: value for name, value in changes.items() if value is not None},
            text={name: None if value == "none" else value for name, value in text.items() if value is not None},
            **given,
        )

    command = cloup.option_group("Words", stemmer_option, stop_words_option)(command)
    command = cloup.option_group("How it learns", *_LEARNING)(command)
    return cloup.option_group("How it decides and asks", *_DECIDING)(command)


_DECIDING = [
    click.option(
        "--threshold",
        type=float,
        help=f"Deliver as relevant what is more probable than this; {_SETTING['threshold']:g}, or as in the last run.",
    ),
    click.option(
        "--ask",
        type=Checked(imported("textbayes.stream:make_ask")),
        metavar="SCHEDULE",
        help="Bits a document must be expected to teach to be asked about: paper (the default), which asks less the "
        "more is delivered, paper:target=50,width=10, constant:bits=0.1, or never.",
    ),
    click.option(
        "--explore",
        type=Checked(imported("textbayes.stream:make_explore")),
        metavar="SCHEDULE",
        help="Chance of a delivery at random: never (the default), constant:rate=0.001, or "
        "paper:documents=293856,target=50.",
    ),
    click.option(
        "--budget",
        type=Checked(imported("textbayes.stream:make_budget")),
        metavar="N/TIME",
        help="Most questions, asked or random, over all topics: 20/day, or 5/1000 for every 1000 documents.",
    ),
    click.option(
        "--patience",
        type=click.IntRange(min=0),
        metavar="N",
        help="A topic that has delivered nothing asks after about N documents, later after 2N, 3N and so on; "
        f"{_SETTING['patience']}, and 0 for never.",
    ),
    option(
        "--gain",
        choices=["paper", "gaussian", "exact", "region"],
        help=f"How information is measured; {_SETTING['gain']}. region: of the topic's relevant documents, so that odd "
        "documents are not asked about.",
    ),
    click.option("--seed", "random_state", type=SEED, help=f"Of the random deliveries; {_SETTING['random_state']}."),
    option(
        "--keep",
        choices=["all", "delivered"],
        help=f"Documents whose words the log keeps, for --replay; {_SETTING['keep']}.",
    ),
    click.option(
        "--snippet",
        type=click.IntRange(min=0),
        metavar="N",
        help="Characters of a delivered text that the log keeps, to be shown when it is judged; "
        f"{_SETTING['snippet']}, and 0 for none.",
    ),
]
_LEARNING = [
    click.option(
        "--rehearse/--no-rehearse",
        default=None,
        help="With every irrelevant document, learn a past relevant one again; yes if not given.",
    ),
    click.option(
        "--rehearsal",
        type=Checked(imported("textbayes.stream:make_rehearsal")),
        metavar="RULE",
        help="Which one: turn (the default), or recent:half_life=20, which favours recent ones, for topics that drift.",
    ),
    click.option(
        "--forgetting-factor",
        type=FloatRange(min=0.0, min_open=True, max=1.0),
        help="Factor by which a topic's weights shrink towards their prior before each judgement, for topics that "
        f"drift; {_SETTING['forgetting_factor']:g} forgets nothing.",
    ),
    click.option(
        "--word-threshold", type=float, help=f"Least −2 ln λ of a topic's words; {_SETTING['word_threshold']:g}."
    ),
    click.option(
        "--least-words",
        type=click.IntRange(min=0),
        help="Words that a topic has even where fewer pass the threshold, the best there are; "
        f"{_SETTING['least_words']}.",
    ),
    click.option(
        "--words", "start_words", type=COUNT, help=f"Words per topic at the start; {_SETTING['start_words']}."
    ),
    click.option("--most-words", type=COUNT, help=f"Words per topic later; {_SETTING['most_words']}."),
    click.option("--passes", type=COUNT, help=f"Passes over the labelled documents; {_SETTING['passes']}."),
    option(
        "--covariance",
        choices=["full", "low_rank", "diagonal", "gp"],
        help=f"Correlations of weights that are kept; {_SETTING['covariance']}. gp: a Gaussian process over documents.",
    ),
    option("--kernel", choices=["linear", "quadratic", "rbf"], help=f"Of the Gaussian process; {_SETTING['kernel']}."),
    click.option("--basis", type=COUNT, help=f"Most documents the Gaussian process keeps; {_SETTING['basis']}."),
    click.option("--link", cls=NameOption, type=LinkSpec(), help=f"Link; {_SETTING['link']}."),
    click.option(
        "--noise",
        type=FloatRange(min=0.0),
        help=f"Scale on which the link sees x'w; {_SETTING['noise']:g}, a threshold.",
    ),
]


_LOOKS = ("status", "pending", "replay", "export")


def _check_only_looks(flag: str, given: dict[str, Any]) -> None:
    """Refuse settings of a run where a filter is only looked at."""
    for one in click.get_current_context().command.params:
        if given.get(one.name or ""):
            raise click.UsageError(f"--{flag} changes nothing; give {max(one.opts, key=len)} with the next run.")


def _without_input(function: Callable[..., Any]) -> Callable[..., Any]:
    """What reads no documents need not be given any."""

    @functools.wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        if given["topics"] and not given["train"] and given["model"] is None:
            state, topic = given["state"], given["topics"][0]
            raise click.UsageError(
                f"--topic belongs to --train and --model: the topics of a filter are fixed when it is made. For "
                f"another topic make a second filter, in another folder than {state}: textbayes filter second --train "
                f"labelled.jsonl --topic {topic}"
            )
        flag = next((name for name in (*_LOOKS, "model") if given[name]), None)
        if flag is not None:
            if given["paths"] or given["corpus"] is not None:
                raise click.UsageError(f"--{flag} reads no documents; leave them out.")
            given["paths"] = ("-",)
        return function(*args, **given)

    return command


@cloup.command("filter")
@most_used("train", "model", "topics", "judgements", "by_labels", "status", "pending", "budget", "export", "text_field")
@click.argument("state")
@cloup.option_group(
    "Start a filter",
    click.option("--train", is_flag=True, help="Make STATE from these labelled documents."),
    click.option(
        "--model",
        metavar="FILE",
        callback=model_file,
        help="Make STATE from what a trained model knows, in place of --train.",
    ),
    click.option("--statements", metavar="FILE", help="Texts on what topics are about, labelled."),
    click.option("--prior", metavar="FILE", help="Prior knowledge about words, see `textbayes prior`."),
    click.option("--topic", "topics", multiple=True, metavar="NAME", help="Topics; all labels if not given."),
    jobs_option,
)
@cloup.option_group(
    "Run it",
    click.option(
        "--judgements",
        multiple=True,
        metavar="FILE|-",
        help="Read judgements from here as they come, as JSON lines: a file that grows, a named pipe, or '-'.",
    ),
    click.option(
        "--judge-by-labels",
        "by_labels",
        is_flag=True,
        help="Judge what is delivered at once, by its labels; only for a labelled feed.",
    ),
    click.option(
        "--continue", "go_on", is_flag=True, help="Pass over the documents of this input that were seen before."
    ),
    click.option(
        "--on-error",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="At a line of JSON lines, CSV or TSV that cannot be read: stop; or report it, go on, and exit 3 at last.",
    ),
)
@cloup.option_group(
    "Look at it",
    click.option("--status", is_flag=True, help="Show how each topic is doing, and what is new."),
    option(
        "--since",
        type=Checked(parse_moment),
        default="1d",
        metavar="TIME|DATE",
        help="What --status calls new: since so long ago, such as 12h or 1d, or since a date.",
    ),
    click.option("--pending", is_flag=True, help="List what was delivered and is not judged yet."),
    option(
        "--order",
        choices=["information", "time"],
        default="information",
        help="Of --pending: the most informative first, or the oldest.",
    ),
    click.option("--replay", is_flag=True, help="Compute every decision anew, and exit 1 if a bit differs."),
    click.option(
        "--export", metavar="FILE", help="Write the topics as a model, for classify, words, explain and report."
    ),
)
@filter_options
@label_options("merge_case", "missing")
@_without_input
@input_options(usual_part="test", duplicates="keep")
@output_options
@common_options
def filter_stream(
    state: str,
    inputs: Inputs,
    labelling: Labelling,
    train: bool,
    model: str | None,
    export: str | None,
    status: bool,
    since: str,
    pending: bool,
    order: str,
    replay: bool,
    changes: dict[str, Any],
    text: dict[str, Any],
    output: Output,
    **rest: Any,
) -> None:
    """Deliver the relevant texts of a stream; learn from answers.

    A filter lives in a folder, STATE. It is started from labelled documents, whose labels become its topics, and then
    reads documents one by one. Delivered are those that are probably relevant to a topic, and those whose
    judgement would improve the filter most ("asked"). Judgements come by `textbayes judge`, at any time, or by
    --judgements.

    \b
    textbayes filter desk --train labelled.jsonl     # or --model model.tb
    tail -f feed.jsonl | textbayes filter desk
    textbayes judge desk a7 grain yes
    textbayes filter desk --status
    textbayes filter desk --export model.tb

    Every decision and judgement is written to STATE/log.jsonl before it is printed: the filter may be ended at any
    moment, even by kill -9, and goes on where it was. Of texts only words are kept, and of those delivered
    the beginning (--snippet). STATE remembers the columns of the labelled file, its label separator, delimiter,
    encoding and sheet; later files are read in the same way unless options say otherwise. Schedules, budget and
    threshold may be changed in later runs; what is not given stays as it was.

    The default link assumes that one judgement in ten is wrong, so that probabilities lie between 0.1 and 0.9: 0.9 is
    the highest probability. Another --link, such as probit with --noise 0.5, goes from 0 to 1.
    """
    from textbayes.cli import filter_run

    check_filter_path(state)
    check_judgement_files(rest["judgements"])
    chosen = {"train": train, "model": model, "status": status, "pending": pending, "replay": replay, "export": export}
    modes = [name for name, wanted in chosen.items() if wanted]
    if len(modes) > 1:
        raise click.UsageError(f"--{modes[0]} and --{modes[1]} were both given; choose one of them.")
    if modes and modes[0] in _LOOKS:
        runs = {name: rest[name] for name in ("judgements", "by_labels", "go_on")}
        _check_only_looks(modes[0], {**dict.fromkeys(changes, True), **runs})
    if train:
        filter_run.start(state, inputs, labelling, changes, text, output, **rest)
        return
    if rest["statements"] or rest["prior"] or text:
        raise click.UsageError("--statements, --prior, --stemmer and --stop-words belong to --train.")
    if labelling != Labelling():
        raise click.UsageError("--merge-case and --missing-label belong to --train.")
    if model is not None:
        filter_run.start_from_model(state, model, changes, output, **rest)
    elif export is not None:
        filter_run.show_export(state, export, output)
    elif status:
        filter_run.show_status(state, parse_moment(since), output)
    elif pending:
        filter_run.show_pending(state, order, output)
    elif replay:
        filter_run.show_replay(state, output)
    else:
        filter_run.run_filter(state, inputs, changes, output, **rest)


def check_judgement_files(paths: tuple[str, ...]) -> None:
    """Refuse files that hold no judgements; say of one that is not there that it is waited for."""
    for path in paths:
        if is_model(path):
            raise InputError(f"--judgements {path} is a model file; name a file of judgements in JSON lines")
        if path != "-" and not Path(path).exists():
            warn(f"--judgements {path} does not exist yet; it is read once it does")
        elif Path(path).is_file():
            with open_file(Path(path)) as stream:
                first = next((line for line in iter(lambda: stream.readline(_LONGEST), b"") if line.strip()), b"{")
            if not first.lstrip().startswith(b"{"):
                shown = first.decode("utf-8", "replace").strip()[:60]
                raise InputError(
                    f"--judgements {path} holds {shown!r}, which is not JSON; write one line for each judgement: "
                    '{"id": "a7", "topic": "grain", "relevant": true}'
                )


_SAID = {"new": "", "same": " (as before)", "changed": " (another answer than before)"}


@cloup.command()
@click.argument("state")
@click.argument("document", required=False)
@click.argument("topic", required=False)
@click.argument("answer", required=False, metavar="[yes|no]")
@click.option(
    "--interactive", is_flag=True, help="Show what is not judged yet, one by one, and ask; the default on a terminal."
)
@output_options
@common_options
def judge(
    state: str, document: str | None, topic: str | None, answer: str | None, interactive: bool, output: Output
) -> None:
    """Tell a filter whether a document is relevant.

    Without DOCUMENT, TOPIC and answer, a terminal shows what is not judged yet, the most informative first, and
    takes answers by a key: y, n, s(kip), u(ndo), q(uit). TOPIC may be left out where the filter has one alone.
    Elsewhere judgements are read from standard input as JSON lines and answered one by one. A document that was
    delivered can be judged for any topic; another one with its "text" in the JSON line.

    \b
    textbayes judge desk
    textbayes judge desk a7 grain yes
    echo '{"id": "a7", "topic": "grain", "relevant": true}' | textbayes judge desk

    A judgement is on disk when this command confirms it. The filter learns it before its next document, or when it is
    next started. The same judgement twice counts once; another answer for the same document and topic replaces the
    first.
    """

    check_filter_path(state)
    folder = Path(state)
    read_config(folder)
    on_terminal = document is None and sys.stdin is not None and sys.stdin.isatty()
    if interactive or on_terminal:
        if document is not None:
            raise click.UsageError("--interactive shows what waits; leave DOCUMENT, TOPIC and the answer out.")
        from textbayes.cli import filter_run

        filter_run.judge_pending(folder)
        return
    if document is not None and answer is None:
        topic, answer = _of_the_one_topic(folder, document, topic)
    if answer is not None:
        assert document is not None
        assert topic is not None
        given: Iterator[Judgement] = iter([Judgement(document, topic, parse_relevant(answer))])
    else:
        given = _from_standard_input()
    ledger, n_given = read_ledger(folder), 0
    for judgement in given:
        try:
            verdict = ledger.verdict(judgement)
        except InputError:
            ledger = read_ledger(folder)  # it may have been delivered since
            verdict = ledger.verdict(judgement)
        give_judgements(folder, [judgement])
        ledger.take(judgement)
        n_given += 1
        row = {**judgement._replace(text=None).to_json(), "status": verdict}
        if output.is_table:
            relevance = "relevant" if judgement.relevant else "not relevant"
            echo(f"{judgement.id} is {relevance} to {judgement.topic}{_SAID[verdict]}")
        else:
            output.write([row], list(row), header=n_given == 1)
    if not n_given:
        note("standard input holds no judgements")


def _of_the_one_topic(folder: Path, document: str, answer: str | None) -> tuple[str, str]:
    """The topic and the answer where only a document and an answer were given: the filter must have one topic."""
    topics = read_ledger(folder).topics
    if answer is not None and answer not in topics and len(topics) == 1:
        return topics[0], answer
    typed = shlex.join(["textbayes", "judge", str(folder), document, topics[0], "yes"])
    raise click.UsageError(f"Give DOCUMENT, TOPIC and yes or no, such as: {typed}")


def _from_standard_input() -> Iterator[Judgement]:
    if sys.stdin is None:
        raise click.UsageError("Give DOCUMENT, TOPIC and yes or no, or JSON lines on standard input.")
    for number, line in enumerate(iter(sys.stdin.buffer.readline, b""), start=1):
        if line.strip():
            try:
                yield parse_judgement(line)
            except InputError as error:
                raise MalformedFileError("standard input", str(error), number) from error

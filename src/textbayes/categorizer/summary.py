"""What an automatic training chose: in a sentence, in a paragraph, and as a table of members."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from textbayes.categorizer.stacking import LEAST_WEIGHT
from textbayes.core.errors import plural
from textbayes.display import visible
from textbayes.evaluate.intervals import figure_in_words

if TYPE_CHECKING:
    from textbayes.categorizer.explain import Explanation

_FEATURES = {"words": "words", "stem": "word stems", "head": "first lines", "chars": "character n-grams"}
_FEATURES |= {"embedding": "sentence embeddings", "tokens": "tokens", "unlabelled": "words of unlabelled texts"}
_BY_ENCODER = ", tokens"  # ends the name of a member
_PAIRED = ("words", "stem")  # views of which it is said whether they have pairs
_KINDS = {"ratio": "logistic regression, ratio prior", "Gaussian": "logistic regression, Gaussian prior"}
_KINDS |= {"Laplace": "sparse logistic regression", "complement": "complement naive Bayes"}
_KINDS |= {"mixture": "naive Bayes, by EM", "latent regression": "logistic regression, latent semantic analysis"}
_KINDS |= {"naive Bayes": "naive Bayes", "names of labels": "words of the label names", "prior file": "prior file"}
_READS = {"stems": "word stems", "characters": "character n-grams", "sentence vectors": "sentence embeddings"}


class MemberRow(NamedTuple):
    """A member of an automatic ensemble in words: its model, the view it reads, prior scale, weight, held-out loss."""

    model: str
    view: str
    scale: float | None
    weight: float
    log_loss: float | None


def member_rows(choice: Mapping[str, Any]) -> list[MemberRow]:
    """The members of an automatic training, the largest weight first.

    Parameters
    ----------
    choice : mapping
        ``TextCategorizer.choice_``.
    """
    rows = []
    for one in choice["members"]:
        kind, _, view = one["name"].partition(", ")
        told = not view  # names of labels and prior files speak of words
        model, read = _KINDS.get(kind, kind), "words" if told else _READS.get(view, view)
        rows.append(MemberRow(model, read, one["scale"], one["weight"], one["log_loss"]))
    return sorted(rows, key=lambda row: -abs(row.weight))


def model_sentence(choice: Mapping[str, Any]) -> str:
    """The model of an automatic training in one sentence.

    Parameters
    ----------
    choice : mapping
        ``TextCategorizer.choice_``.
    """
    if _knows_nothing(choice):
        return "No model was better than the label frequencies on held-out texts: its probabilities are these."
    encoder = [one for one in choice["members"] if one["name"].endswith(_BY_ENCODER)]
    n_linear = len(choice["members"]) - len(encoder)
    what = "A linear model" if n_linear == 1 else f"An ensemble of {n_linear} linear models"
    if encoder:
        what = f"{what} and a fine-tuned encoder" if n_linear else "A fine-tuned encoder"
    return f"{what} of {_listed([name for view in choice['views'] for name in _features(view)])}."


def describe_choice(choice: Mapping[str, Any]) -> str:
    """The choice of an automatic training (``TextCategorizer.choice_``), in a paragraph.

    Parameters
    ----------
    choice : mapping
    """
    views = _listed([f"{view['words']:,} {' and '.join(_features(view))}" for view in choice["views"]])
    parts = [model_sentence(choice), f"Features of the {plural(choice['n_texts'], 'training text')}: {views}."]
    members = sorted(choice["members"], key=lambda one: one["log_loss"] or 0.0)
    if _knows_nothing(choice):
        pass
    elif choice["log_loss"] is None:
        parts.append(f"The members have equal weights: {_listed([_named(one) for one in members])}.")
    elif len(members) > 1:
        losses = _listed([f"{_named(one)} ({one['log_loss']:.4f})" for one in members], "; ")
        parts.append(
            "Their weights minimise the held-out log-loss. "
            f"Held-out log-loss of each member: {losses}; of the ensemble: {choice['log_loss']:.4f}."
        )
    n_held_out = choice.get("n_held_out") or choice["n_texts"]
    if n_held_out < choice["n_texts"]:
        parts.append(f"{n_held_out:,} of the texts were held out to measure this.")
    if choice["left_out"] and not _knows_nothing(choice):
        parts.append(f"Left out, since their weight was near zero: {_listed(choice['left_out'], '; ')}.")
    if choice.get("embeddings") is not None:
        parts.append(_network("Sentence embeddings", "were", **choice["embeddings"], n_texts=choice["n_texts"]))
    if choice.get("encoder") is not None:
        told = dict(choice["encoder"])
        cost = told.pop("half_precision", None)
        parts.append(_network("A fine-tuned encoder", "was", **told, n_texts=choice["n_texts"]))
        if cost is not None:
            parts.append(f"Half precision adds {cost:+.1e} to its log-loss.")
    if choice.get("unlabelled") is not None:
        parts.append(unlabelled_sentence(choice["unlabelled"]))
    if choice["label_stacking"]:
        parts.append("The scores of a text's other labels are features too.")
    if partial := partial_members(choice):
        parts.append(f"The training was interrupted: it is a model of {partial}.")
    return " ".join(parts)


def partial_members(choice: Mapping[str, Any] | None) -> str | None:
    """How many members of an interrupted training were done, as in ``2 of 7 members``; None of any other training."""
    if choice is None or not choice["interrupted"]:
        return None
    if choice.get("n_planned") is None:
        return "some members"  # files of earlier versions do not have it
    return f"{choice['n_done']} of {choice['n_planned']} members"


def _knows_nothing(choice: Mapping[str, Any]) -> bool:
    """Whether no member has a weight beyond the trace that is kept of one."""
    return all(abs(one["weight"]) <= LEAST_WEIGHT for one in choice["members"])


def _features(view: Mapping[str, Any]) -> list[str]:
    """The features of a view."""
    name = _FEATURES.get(view["name"], view["name"])
    paired = view["pairs"] and view["name"] in _PAIRED
    return [name, f"{'word' if name == 'words' else 'stem'} pairs"] if paired else [name]


def _network(
    what: str, verb: str, model: str, outcome: str, log_loss: float | None, log_loss_without: float | None, n_texts: int
) -> str:
    """What became of a neural network, which is there or not by what is installed."""
    if outcome == "too long":
        return (
            f"{what} ({model}) {verb} not tried: {n_texts:,} texts of this length take too long for the budget; name "
            "the model to have it tried."
        )
    if log_loss is None or log_loss_without is None:
        return f"{what} ({model}) {verb} left out: there was no held-out log-loss to compare."
    became = "kept" if outcome == "kept" else "tried and left out, since the gain is too little for the cost"
    return (
        f"{what} ({model}) {verb} {became}: held-out log-loss {log_loss:.4f} with "
        f"{'them' if verb == 'were' else 'it'}, {log_loss_without:.4f} without."
    )


def unlabelled_sentence(told: Mapping[str, Any]) -> str:
    """What unlabelled texts gained (``TextCategorizer.choice_["unlabelled"]``), in a sentence.

    Parameters
    ----------
    told : mapping
    """
    texts, n_copies = plural(told["n_texts"], "unlabelled text"), told["n_copies"]
    if not told["n_texts"]:
        return f"Of {plural(n_copies, 'unlabelled text')} nothing was learnt: all are copies of labelled ones."
    if n_copies:
        texts += f" (without {n_copies:,} that {'is a copy' if n_copies == 1 else 'are copies'} of labelled ones)"
    if told["outcome"] == "too few":
        return f"{texts} had too few words in common to learn from."
    loss, before = told["log_loss"], told["log_loss_without"]
    learnt = told["outcome"] == "kept"
    if loss is None or before is None:
        what = f"Learnt from {texts}" if learnt else f"{texts} were left out"
        return f"{what}: there was no held-out log-loss to compare."
    if learnt:
        return f"Learnt from {texts}: held-out log-loss {loss:.4f}, {before:.4f} without."
    return f"{texts} did not help and were left out: log-loss {loss:.4f}, {before:.4f} without."


def _named(member: Mapping[str, Any]) -> str:
    return member["name"] if member["scale"] is None else f"{member['name']}, scale {member['scale']:g}"


def _listed(items: Sequence[str], separator: str = ", ") -> str:
    return items[0] if len(items) == 1 else f"{separator.join(items[:-1])} and {items[-1]}"


_FIGURES = {"macro F1": "macro_f1", "log-loss": "log_loss"}  # of all kinds of labels
_MOST_LABELS = 12  # of a model, those with most texts
_MOST_MEMBERS = 5  # of an ensemble
_MOST_WORDS = 15  # of an explanation
_FOR, _AGAINST = "37, 110, 220", "224, 118, 24"
_FRAME = "max-width:44rem;border:1px solid rgba(128,128,128,.35);border-radius:8px;padding:.7em 1em;margin:.3em 0"
_CELL = "text-align:right;padding:.1em .6em;background:none"
_NAME = "text-align:left;padding:.1em .6em;background:none"


def model_html(model: Any) -> str:
    """A fitted ``TextCategorizer``: its held-out figures with intervals, its labels and its members."""
    space, counts = model.label_space_, model.label_counts_
    kind = {"multilabel": "any number of labels per text"}.get(space.kind, "one label per text")
    n_texts = "" if counts is None or space.kind == "multilabel" else f" on {int(sum(counts)):,} texts"
    title = f"<strong>TextCategorizer</strong>, fitted{n_texts}; {len(space.classes):,} labels, {kind}"
    return f'<div style="{_FRAME}"><div>{title}</div>{_figures(model.held_out_)}<div>{_members(model)}</div></div>'


def explanations_html(told: list[Explanation]) -> str:
    """Explanations of a text, one table each."""
    return "".join(_explanation(one) for one in told)


def _figures(held_out: dict[str, Any] | None) -> str:
    """Headline figures and a table by label; a sentence where the model has no held-out figures."""
    if not held_out:
        return "<div>No held-out figures: the model was updated or made without cross-validation.</div>"
    n = held_out["n_docs"]
    many = held_out["kind"] == "multilabel"
    named = {"All labels correct": "subset_accuracy", "micro F1": "micro_f1"} if many else {"Accuracy": "accuracy"}
    told = {name: figure_in_words(held_out, key) for name, key in (named | _FIGURES).items()}
    figures = [f"{name} <strong>{value}</strong>" + f" ({ends})" * bool(ends) for name, (value, ends) in told.items()]
    where = f"on {n:,} training texts, each held out in cross-validation"
    rows = sorted(held_out["labels"].items(), key=lambda row: -row[1]["support"])
    body = "".join(_label_row(label, row) for label, row in rows[:_MOST_LABELS])
    more = f"<div>and {len(rows) - _MOST_LABELS:,} more labels</div>" if len(rows) > _MOST_LABELS else ""
    head = _row(["Label", "Texts", "Precision", "Recall", "F1"], "th")
    return f"<div>{'; '.join(figures)}; {where}</div><table>{head}{body}</table>{more}"


def _label_row(label: str, row: dict[str, Any]) -> str:
    return _row([_text(label), f"{row['support']:,}", *(_number(row[name]) for name in ("precision", "recall", "f1"))])


def _members(model: Any) -> str:
    names = model.member_names()
    if len(names) == 1:
        return f"Model: {_text(names[0])}"
    ranked = sorted(zip(model.pool_.tolist(), names, strict=True), key=lambda one: -one[0])
    listed = "; ".join(f"{_text(name)} ({weight:.2f})" for weight, name in ranked[:_MOST_MEMBERS])
    more = f"; and {len(names) - _MOST_MEMBERS} more" if len(names) > _MOST_MEMBERS else ""
    return f"Ensemble of {len(names)} models (weights): {listed}{more}"


def _explanation(told: Explanation) -> str:
    """One label: words in the colour of their side, the stronger the more they add, down to the sum."""
    listed, rest = told.contributions[:_MOST_WORDS], told.contributions[_MOST_WORDS:]
    most = max((abs(part.log_odds) for part in listed), default=1.0)
    rows = []
    for part in listed:
        times = f" × {part.occurrences:,}" if part.occurrences > 1 else ""
        rows.append(_row([_wash(_text(part.word), part.log_odds / most) + times, f"{part.log_odds:+.3f}"]))
    others = dict(told.remainder)
    others["other words"] = others.get("other words", 0.0) + sum(part.log_odds for part in rest)
    names = {"base": "intercept"}
    rows += [_row([names.get(name, name), f"{value:+.3f}"]) for name, value in others.items() if abs(value) > 5e-4]
    rows.append(_row(["<strong>sum (log-odds)</strong>", f"<strong>{told.log_odds:+.3f}</strong>"]))
    notes = "".join(f"<div>{_text(note)}</div>" for note in [told.against, *told.notes] if note)
    title = f"<div><strong>{_text(told.label)}</strong>: {_text(told.answer)}</div>"
    head = _row(["Word", "Contribution to the log-odds"], "th")
    return f'<div style="{_FRAME}">{title}<table>{head}{"".join(rows)}</table>{notes}</div>'


def _wash(word: str, strength: float) -> str:
    colour = _FOR if strength > 0.0 else _AGAINST
    line = "solid" if strength > 0.0 else "dotted"
    style = f"background:rgba({colour},{0.1 + 0.4 * abs(strength):.2f});border-bottom:2px {line} rgb({colour})"
    return f'<span style="{style};border-radius:3px;padding:0 .2em">{word}</span>'


def _row(cells: list[str], tag: str = "td") -> str:
    styled = [f'<{tag} style="{_CELL if i else _NAME}">{cell}</{tag}>' for i, cell in enumerate(cells)]
    return f"<tr>{''.join(styled)}</tr>"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _text(value: object) -> str:
    """Text of users as text: escaped, with control characters named."""
    return html.escape(visible(str(value), unseen=True))

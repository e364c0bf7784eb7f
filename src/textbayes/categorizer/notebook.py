"""How models and explanations show themselves in notebooks: HTML without scripts, readable on light and dark pages.

Everything that comes from texts and labels is escaped, and colours are washes over the notebook's own.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from textbayes.core.statistics import wilson_interval
from textbayes.display.escapes import visible

if TYPE_CHECKING:
    from textbayes.categorizer.explain import Explanation

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
    share = held_out["subset_accuracy" if many else "accuracy"]
    low, high = wilson_interval(round(share * n), n)
    name = "All labels correct" if many else "Accuracy"
    figures = [f"{name} <strong>{share:.1%}</strong> (95% interval {low:.1%} to {high:.1%})"]
    figures += [f"micro F1 <strong>{_number(held_out['micro_f1'])}</strong>"] if many else []
    figures += [
        f"macro F1 <strong>{_number(held_out['macro_f1'])}</strong>",
        f"log-loss <strong>{_number(held_out['log_loss'])}</strong>",
    ]
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

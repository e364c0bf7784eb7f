"""What an automatic training chose and why, in a paragraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from textbayes.categorizer.auto.stacking import LEAST_WEIGHT
from textbayes.core.wording import plural

_VIEWS = {"words": "words", "stem": "stems", "head": "first lines", "chars": "characters"}
_VIEWS |= {"embedding": "sentence vectors"}
_PAIRED = ("words", "stem")  # views of which it is said whether they have pairs


def describe_choice(choice: Mapping[str, Any]) -> str:
    """The choice of an automatic training (``TextCategorizer.choice_``), in a paragraph.

    Parameters
    ----------
    choice : mapping
    """
    views = _listed([_view(view) for view in choice["views"]])
    members = choice["members"]
    parts = [f"{plural(choice['n_texts'], 'text')} were read as {views}."]
    nothing_told = all(abs(one["weight"]) <= LEAST_WEIGHT for one in members)
    if nothing_told:
        parts.append("No model told texts apart that it had not seen: answers are how common the labels are.")
    elif len(members) == 1:
        parts.append(f"One model was kept: {_named(members[0])}.")
    elif choice["log_loss"] is None:
        parts.append(f"{len(members)} models were pooled, with equal weights: {_listed([_named(m) for m in members])}.")
    else:
        members = sorted(members, key=lambda one: one["log_loss"])
        told = _listed([f"{_named(one)} ({one['log_loss']:.4f})" for one in members])
        parts.append(
            f"{len(members)} models were pooled, with weights that fit texts best which they had not seen; log-loss of "
            f"each alone: {told}; of all together: {choice['log_loss']:.4f}."
        )
    n_held_out = choice.get("n_held_out") or choice["n_texts"]
    if n_held_out < choice["n_texts"]:
        parts.append(f"{n_held_out:,} of the texts were held out to tell this.")
    if choice["left_out"] and not nothing_told:
        parts.append(f"Left out, since the others say all that they do: {_listed(choice['left_out'])}.")
    if choice.get("embeddings") is not None:
        parts.append(_meaning(**choice["embeddings"], n_texts=choice["n_texts"]))
    if choice["second_pass"]:
        parts.append("What is said of a text's other labels counts as well.")
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


def _view(view: Mapping[str, Any]) -> str:
    """A view and how many words it has."""
    name = _VIEWS.get(view["name"], view["name"])
    return f"{name}{' and pairs' if view['pairs'] and view['name'] in _PAIRED else ''} ({view['words']:,})"


def _meaning(model: str, outcome: str, log_loss: float | None, log_loss_without: float | None, n_texts: int) -> str:
    """What became of the sentence vectors, which are there or not by what is installed."""
    if outcome == "too long":
        return (
            f"Sentence vectors ({model}) were not tried: {n_texts:,} texts of this length take too long for the budget;"
            " name the model to have it tried."
        )
    if log_loss is None or log_loss_without is None:
        return f"Sentence vectors ({model}) were left out, for nothing told what they gain."
    what = "kept" if outcome == "kept" else "tried and left out, since they gain too little for what they cost"
    told = f"with them {log_loss:.4f}, without {log_loss_without:.4f}"
    return f"Sentence vectors ({model}) were {what}: log-loss of held-out texts {told}."


def _named(member: Mapping[str, Any]) -> str:
    return member["name"] if member["scale"] is None else f"{member['name']}, scale {member['scale']:g}"


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{'; '.join(items[:-1])} and {items[-1]}"

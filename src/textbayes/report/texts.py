"""Texts on the page: explained examples, errors, words marked by what they add, the strongest words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from textbayes.categorizer import TextCategorizer
from textbayes.categorizer.explain import Explanation, MergedWords
from textbayes.core.types import BoolArray, FloatArray
from textbayes.display import snippet
from textbayes.evaluate.measures import mistake_sureness
from textbayes.report.figures import UNKNOWN
from textbayes.report.records import Example, Fragment, LabelWords, Reason, StrongWord, Word, WrongText
from textbayes.text.surface import PageWord, find_tokens, part_read, readings
from textbayes.text.tokens import TokenVectorizer

_LEVELS = (0.08, 0.2, 0.45, 0.75)  # least share of the text's strongest word for levels 1 to 4
_MARGIN = 1_000  # characters


def token_values(tokens: Sequence[PageWord], ngram_range: tuple[int, int], values: Mapping[str, float]) -> list[float]:
    """Contribution of each token, given that of one occurrence of each term; the words of an n-gram share equally.

    Parameters
    ----------
    tokens : sequence of PageWord
    ngram_range : (shortest, longest)
    values : term → what one occurrence adds
    """
    shares = [0.0] * len(tokens)
    for members, (shortest, longest), space in _sequences(tokens, ngram_range):
        for n in range(shortest, longest + 1):
            for first in range(len(members) - n + 1):
                gram = members[first : first + n]
                value = values.get(space.join(str(tokens[i].term) for i in gram), 0.0)
                for i in gram:
                    shares[i] += value / n
    return shares


def highlight(text: str, vectorizer: Any, values: Mapping[str, float], most: int) -> list[Fragment]:
    """Cut the first ``most`` characters into fragments, words marked by what each adds; the text is not changed.

    Parameters
    ----------
    text : str
    vectorizer : TextVectorizer, HashingTextVectorizer or TextViews
        The model's own, fitted. What several views say of one place is added up.
    values : name of a column → what one occurrence adds to the log-odds
    most : int
    """
    # Read a little further than is shown, so that no word is cut in half; a text of megabytes is not read to its end.
    marked = sorted(_marked(text[: most + _MARGIN], vectorizer, values).items())
    strongest = max((abs(share) for (_, end), share in marked if end <= most), default=0.0)
    fragments, done = [], 0
    for (begin, end), share in marked:
        level = sum(abs(share) > least * strongest for least in _LEVELS)
        if end > most or not level or begin < done:
            continue
        if begin > done:
            fragments.append(Fragment(text[done:begin]))
        fragments.append(Fragment(text[begin:end], share, level if share > 0 else -level))
        done = end
    return [*fragments, Fragment(text[done:most])] if done < min(most, len(text)) else fragments


def _marked(text: str, vectorizer: Any, values: Mapping[str, float]) -> dict[tuple[int, int], float]:
    """What is said at each place of a text, by all views together."""
    found: dict[tuple[int, int], float] = {}
    for one in readings(vectorizer):
        if isinstance(one.vectorizer, TokenVectorizer):
            for number, piece in enumerate(one.vectorizer.subwords.pieces(text), start=1):
                place = (piece.begin, piece.end)
                found[place] = found.get(place, 0.0) + values.get(f"{one.prefix}{number}", 0.0)
            continue
        if one.is_vector:  # it says nothing of a place
            continue
        offset, read = part_read(text, one)
        tokens = find_tokens(read, one.vectorizer)
        own = {name.removeprefix(one.prefix): value for name, value in values.items() if name.startswith(one.prefix)}
        for token, share in zip(tokens, token_values(tokens, one.vectorizer.ngram_range, own), strict=True):
            place = (token.begin + offset, token.end + offset)
            found[place] = found.get(place, 0.0) + share
    return found


def _sequences(
    tokens: Sequence[PageWord], ngram_range: tuple[int, int]
) -> Iterator[tuple[list[int], tuple[int, int], str]]:
    """Places of tokens that n-grams are made of, how long these are, and what stands between their parts."""
    yield [i for i, token in enumerate(tokens) if token.term is not None and token.script is None], ngram_range, " "
    characters = [(i, token.script) for i, token in enumerate(tokens) if token.script is not None]
    # Characters of one run follow each other in the text as they do in the list.
    runs = groupby(enumerate(characters), lambda item: (item[1][1], tokens[item[1][0]].begin - item[0]))
    for (script, _), run in runs:
        yield [i for _, (i, _) in run], (ngram_range[0], ngram_range[1] + script.more), ""


SURE = "correct, certain"
DOUBTFUL = "correct, least certain"
WRONG = "wrong, most certain"
_MOST_CHARACTERS = 1_500  # of a text, on the page
_MOST_WORDS = 8  # of a reason, by name
_MOST_PROBABILITIES = 5


class AssessedTexts(NamedTuple):
    """Texts with their names, what is true of them and what the model thinks: a row each, a column for every class."""

    ids: Sequence[str]
    texts: Sequence[str]
    truth: BoolArray
    proba: FloatArray
    decisions: BoolArray
    kind: str

    def right(self) -> BoolArray:
        """Whether all labels of each text are right; not those of a text whose one label the model does not know."""
        found: BoolArray = (self.decisions == self.truth).all(axis=1)
        return found if self.kind == "multilabel" else found & self.truth.any(axis=1)

    def true_labels(self, i: int, names: Sequence[str]) -> list[str]:
        """The labels of a text; one that excludes the others and is not among the model's is called unknown."""
        found = [names[j] for j in np.flatnonzero(self.truth[i]).tolist()]
        return found if found or self.kind == "multilabel" else [UNKNOWN]


def confidence(judged: AssessedTexts) -> FloatArray:
    """Confidence of each text's decision: the top probability, or that of the least sure yes or no."""
    if judged.kind == "multiclass":
        return judged.proba.max(axis=1)
    return np.where(judged.decisions, judged.proba, 1.0 - judged.proba).min(axis=1)


def choose(judged: AssessedTexts) -> list[tuple[str, int]]:
    """Choose the texts to show, each with its role.

    Of the surest tenth of the right ones the shortest, which is quickest to read; the least sure right one; and the
    surest wrong one, from which most is to be learnt.
    """
    sure = confidence(judged)
    is_right = judged.right()
    right, wrong = np.flatnonzero(is_right), np.flatnonzero(~is_right)
    if judged.kind == "multilabel" and judged.truth[right].any():
        right = right[judged.truth[right].any(axis=1)]  # an empty text without labels is right, and dull
    chosen = []
    if len(right):
        surest = right[np.argsort(-sure[right], kind="stable")][: max(1, len(right) // 10)]
        chosen.append((SURE, min(surest.tolist(), key=lambda i: len(judged.texts[i]))))
        doubtful = int(right[sure[right].argmin()])
        if doubtful != chosen[0][1]:
            chosen.append((DOUBTFUL, doubtful))
    if len(wrong):
        chosen.append((WRONG, int(wrong[sure[wrong].argmax()])))
    return chosen


def make_examples(model: TextCategorizer, judged: AssessedTexts) -> list[Example]:
    """Explain the texts chosen as examples."""
    return [_example(model, judged, what, i) for what, i in choose(judged)]


def _example(model: TextCategorizer, judged: AssessedTexts, what: str, i: int) -> Example:
    text, truth, proba, decisions = judged.texts[i], judged.truth[i], judged.proba[i], judged.decisions[i]
    names = [str(name) for name in model.classes_]
    columns = _columns_to_explain(judged.kind, proba, decisions, truth, what)
    explanations = model.explain(text, [names[j] for j in columns])
    (by_column,) = model.explain(text, [names[columns[0]]], merge=False)
    values = {part.word: part.log_odds / part.occurrences for part in by_column.contributions}
    order = np.argsort(-proba, kind="stable")[:_MOST_PROBABILITIES]
    n_shown = _cut(text)
    return Example(
        kind=what,
        id=judged.ids[i],
        headline=snippet(text, 60),
        truth=judged.true_labels(i, names),
        decided=[names[j] for j in np.flatnonzero(decisions)],
        probabilities=[(names[j], float(proba[j])) for j in order],
        reasons=[_reason(one, bool(decisions[j])) for one, j in zip(explanations, columns, strict=True)],
        fragments=highlight(text, model.vectorizer_, values, n_shown),
        n_shown=n_shown,
        n_characters=len(text),
    )


def _columns_to_explain(kind: str, proba: FloatArray, decisions: BoolArray, truth: BoolArray, what: str) -> list[int]:
    """The label decided on and, where that is the question, the one it competed with; two at most."""
    order = np.argsort(-proba, kind="stable")
    if kind != "multilabel":
        first = int(order[decisions[order]][0]) if decisions.any() else int(order[0])
        if what == SURE or kind == "binary":  # what speaks for one of two classes speaks against the other
            return [first]
        rivals = order[(truth if what == WRONG else ~truth)[order]]
        return [first, *(int(j) for j in rivals if j != first)][:2]
    mistaken = order[(decisions != truth)[order]]
    given = order[decisions[order]]
    return list(dict.fromkeys(int(j) for j in [*mistaken, *given, order[0]]))[:2]


def _cut(text: str) -> int:
    """Number of characters to show: all of a text that is hardly too long, else up to the end of a word."""
    if len(text) <= 1.2 * _MOST_CHARACTERS:
        return len(text)
    space = max(text.rfind(blank, 0, _MOST_CHARACTERS) for blank in (" ", "\n"))
    return space if space > 0 else _MOST_CHARACTERS


def _reason(explanation: Explanation, decision: bool) -> Reason:
    parts = explanation.contributions
    rest = parts[_MOST_WORDS:]
    return Reason(
        label=explanation.label,
        decision=decision,
        base=explanation.base,
        words=[Word(*part) for part in parts[:_MOST_WORDS]],
        others_for=_together([p.log_odds for p in rest if p.log_odds > 0.0], "for"),
        others_against=_together([p.log_odds for p in rest if p.log_odds < 0.0], "against"),
        log_odds=explanation.log_odds,
        probability=explanation.probability,
        rivals=[(one.label, one.probability, one.log_odds) for one in explanation.rivals],
    )


def _together(values: list[float], side: str) -> Word | None:
    """Words too many to name, as one; ``occurrences`` counts the words."""
    if not values:
        return None
    name = f"{len(values)} other word{'s' if len(values) > 1 else ''} {side} it"
    return Word(name, float(sum(values)), len(values))


_WRONG_WORDS = 5  # for each label in question
_WRONG_LABELS = 4  # in question, of one text
_HEADLINE = 160  # characters


def wrong_texts(model: TextCategorizer, judged: AssessedTexts, most: int) -> list[WrongText]:
    """Texts decided wrongly, up to ``most`` of them, the surest mistakes first.

    Parameters
    ----------
    model : TextCategorizer
    judged : AssessedTexts
    most : int
    """
    wrong = np.flatnonzero(~judged.right())
    exclusive = model.label_space_.kind != "multilabel"
    sureness = mistake_sureness(judged.truth, judged.decisions, judged.proba, exclusive)
    order = wrong[np.argsort(-sureness[wrong].max(axis=1, initial=-1.0), kind="stable")][:most]  # each text's worst
    return [_explained(model, judged, int(i), sureness[i]) for i in order]


def _explained(model: TextCategorizer, judged: AssessedTexts, i: int, sureness: FloatArray) -> WrongText:
    text, proba = judged.texts[i], judged.proba[i]
    names = [str(name) for name in model.classes_]
    mistaken = np.flatnonzero(judged.decisions[i] != judged.truth[i])
    columns = mistaken[np.argsort(-sureness[mistaken], kind="stable")][:_WRONG_LABELS]  # the surest first
    words = []
    for explanation in model.explain(text, [names[j] for j in columns]):
        speaking = [part for part in explanation.contributions if part.log_odds > 0.0][:_WRONG_WORDS]
        words.append([Word(*part) for part in speaking])
    return WrongText(
        id=judged.ids[i],
        headline=snippet(text, _HEADLINE),
        truth=judged.true_labels(i, names),
        decided=[names[j] for j in np.flatnonzero(judged.decisions[i])],
        labels=[(names[j], float(proba[j])) for j in columns],
        words=words,
    )


_LEADING = 12  # labels, those with most texts
_MOST_LABELS = 300
_FOR, _AGAINST = 10, 5  # words
_LEVEL = 0.95
_MOST_INTERVALS = 2_000  # words of a label that are looked up


def strongest_words(model: TextCategorizer, texts: Sequence[str], support: Mapping[str, int]) -> list[LabelWords]:
    """Strongest words of the labels with most texts, in the order of the labels.

    What a word adds to a label's log-odds in one text is what ``explain`` says; here it is summed over all texts.

    Parameters
    ----------
    model : TextCategorizer
    texts : sequence of str
    support : label → number of texts
    """
    features = model.features(texts)
    all_weights, all_totals = model.model_.word_weights().weights, model.model_.word_totals(features)
    having = features.counts != 0
    words = MergedWords.of(model, np.asarray(having.sum(axis=0), dtype=np.float64).ravel(), model.surface_)
    n_texts = words.texts_with(having)
    ranked = sorted(support, key=lambda label: -support[label])
    leading, listed = set(ranked[:_LEADING]), set(ranked[:_MOST_LABELS])
    found = []
    for label in support:
        if label in listed:
            column, sign = _column(model, label)
            weights, totals = words.weight(sign * all_weights[column]), words.added(sign * all_totals[column])
            ends = _intervals(model, label) if label in leading else {}
            order = np.argsort(-totals, kind="stable")
            most, least = ([j for j in places if totals[j]] for places in (order[:_FOR], order[::-1][:_AGAINST]))
            described = {
                j: StrongWord(
                    words.forms[j], float(weights[j]), int(n_texts[j]), float(totals[j]),
                    *ends.get(words.column_name(j), (None, None)),
                )
                for j in (*most, *least)
            }  # fmt: skip
            speaking_for = [described[j] for j in most if totals[j] > 0.0]
            speaking_against = [described[j] for j in least if totals[j] < 0.0]
            found.append(LabelWords(label, speaking_for, speaking_against, label in leading))
    return found


def _column(model: TextCategorizer, label: str) -> tuple[int, float]:
    """The column of a label and the sign of its weights: the first of two classes mirrors the second."""
    names = model.label_space_.column_names
    return (names.index(label), 1.0) if label in names else (0, -1.0)


def _intervals(model: TextCategorizer, label: str) -> dict[str, tuple[float | None, float | None]]:
    """The ends of the interval of each weight, where the model knows them."""
    if model.standard_errors_ is None:
        return {}
    rows = model.word_intervals(label, level=_LEVEL, k=_MOST_INTERVALS, whole=False)
    return {one.word: (one.low, one.high) for one in rows if not np.isnan(one.low)}

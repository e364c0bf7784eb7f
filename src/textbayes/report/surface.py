"""Texts on the page, with words marked by what each adds to a label's log-odds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from textbayes.report.records import Fragment
from textbayes.text.surface import Token, find_tokens, part_read, readings

_LEVELS = (0.08, 0.2, 0.45, 0.75)  # least share of the text's strongest word for levels 1 to 4
_MARGIN = 1_000  # characters


def token_values(tokens: Sequence[Token], ngram_range: tuple[int, int], values: Mapping[str, float]) -> list[float]:
    """Contribution of each token, given that of one occurrence of each term; the words of an n-gram share equally.

    Parameters
    ----------
    tokens : sequence of Token
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
    tokens: Sequence[Token], ngram_range: tuple[int, int]
) -> Iterator[tuple[list[int], tuple[int, int], str]]:
    """Places of tokens that n-grams are made of, how long these are, and what stands between their parts."""
    yield [i for i, token in enumerate(tokens) if token.term is not None and token.script is None], ngram_range, " "
    characters = [(i, token.script) for i, token in enumerate(tokens) if token.script is not None]
    # Characters of one run follow each other in the text as they do in the list.
    runs = groupby(enumerate(characters), lambda item: (item[1][1], tokens[item[1][0]].begin - item[0]))
    for (script, _), run in runs:
        yield [i for _, (i, _) in run], (ngram_range[0], ngram_range[1] + script.more), ""

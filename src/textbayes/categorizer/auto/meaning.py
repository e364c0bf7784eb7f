"""Sentence vectors as one more view: whether they are tried, at what cost, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textbayes.core.progress import Progress
from textbayes.text.sentence_models import automatic_model
from textbayes.text.sentences import SentenceVectorizer, VectorWeighting
from textbayes.text.views import TextViews, View

# Characters that "auto" reads at most: from seconds on a fast machine to some minutes on a slow one. Where texts are
# many, words say as much.
_MOST_CHARACTERS = {"quick": 0, "normal": 300_000, "thorough": 3_000_000}
_READ = 1_500  # characters of a text: some 256 tokens, after which the packaged model stops


def chosen_model(settings: Any, texts: Sequence[str]) -> tuple[Any, bool]:
    """The sentence model to try, None for none, and whether reading the texts with it takes too long.

    Parameters
    ----------
    settings : TextCategorizer
    texts : sequence of str
    """
    given = settings.embeddings
    if given is None or given == "off":
        return None, False
    if given != "auto":
        return given, False
    most = _MOST_CHARACTERS[settings.budget]
    if not most or settings.vectorizer is not None:
        return None, False
    return automatic_model(), sum(min(len(text), _READ) for text in texts) > most


def with_sentences(
    views: TextViews, blocks: list[Any], texts: Sequence[str], model: Any, report: Progress
) -> tuple[TextViews, list[Any]]:
    """The views, and the matrices of the texts, with that of sentence vectors behind the others.

    Parameters
    ----------
    views, blocks : TextViews, list of CSR matrix
    texts : sequence of str
    model : str or path
        The sentence model.
    report : Progress
    """
    vectorizer = SentenceVectorizer(model)
    vectors = vectorizer.fit_transform(texts, report=report)
    view = View("embedding", SentenceVectorizer(model), VectorWeighting())
    return TextViews.of_fitted([*views.views, view], [*views.vectorizers_, vectorizer]), [*blocks, vectors]


def without_sentences(views: TextViews, blocks: list[Any]) -> tuple[TextViews, list[Any]]:
    """The views, and the matrices of the texts, without the last."""
    return TextViews.of_fitted(views.views[:-1], views.vectorizers_[:-1]), blocks[:-1]

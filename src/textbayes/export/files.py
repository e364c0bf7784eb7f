"""Writing of exported models, by the ending of the file's name, and the counts that some of them take as input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from textbayes.categorizer import TextCategorizer
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError
from textbayes.core.types import IntArray
from textbayes.export.as_json import to_json
from textbayes.export.as_onnx import to_onnx
from textbayes.export.as_sql import to_sql
from textbayes.export.collect import read_views, scoring_of
from textbayes.export.scoring import Scoring

_WRITERS: dict[str, Callable[[Scoring], Iterable[str | bytes]]] = {"json": to_json, "sql": to_sql, "onnx": to_onnx}
FORMATS = tuple(_WRITERS)


def reference_scorer() -> Path:
    """The file of the reference scorer of JSON, which needs Python's standard library alone and may be copied."""
    return Path(__file__).with_name("score.py")


def export_scoring(model: TextCategorizer, path: str | Path) -> None:
    """Write the scoring of a trained model for programs other than textbayes, whole or not at all.

    Its probabilities are those of ``predict_proba``: to 1e-9 in JSON and SQL, to 1e-5 in ONNX, which counts in single
    precision. What has no such form is refused.

    Parameters
    ----------
    model : fitted TextCategorizer
        Of type linear, multinomial or counts, an ensemble of these, or an automatic training.
    path : str or Path
        Ends in ``.json``, ``.sql`` or ``.onnx``, which says what is written.

    Examples
    --------
    >>> import tempfile
    >>> from textbayes import TextCategorizer
    >>> model = TextCategorizer().fit(["corn harvest", "wheat falls", "bank rates", "bank loans"] * 5, list("ggmm") * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_scoring(model, Path(folder, "model.json"))
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['model.json']
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending not in _WRITERS:
        endings = ", ".join(f".{one}" for one in FORMATS)
        raise InputError(f"{path} does not say what to write; end its name in {endings}")
    parts = _WRITERS[ending](scoring_of(model))
    with atomic_write(path) as stream:
        for part in parts:
            stream.write(part if isinstance(part, bytes) else part.encode("utf-8", "backslashreplace"))


class TermCounts(NamedTuple):
    """Counts of the terms of texts, by view.

    Attributes
    ----------
    counts : dict of str to CSR matrix (n_texts, n_terms)
    terms : dict of str to list of str
        The terms by column.
    words : array (n_texts,)
        Number of words of each text, those that the model does not know too; 0 where it does not ask.
    """

    counts: dict[str, sparse.csr_matrix]
    terms: dict[str, list[str]]
    words: IntArray

    def rows(self) -> Iterator[tuple[int, str, str, int]]:
        """Rows (number of the text, view, term, count), as the table ``textbayes_counts`` of an SQL script has them."""
        for view, counts in self.counts.items():
            entries = counts.tocoo()
            for doc, column, n in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
                yield doc, view, self.terms[view][column], n


def count_terms(model: TextCategorizer, texts: Iterable[str]) -> TermCounts:
    """Count the terms of texts as a model reads them: the input of its SQL and ONNX forms.

    Parameters
    ----------
    model : fitted TextCategorizer
    texts : iterable of str

    Examples
    --------
    >>> from textbayes import TextCategorizer, TextVectorizer
    >>> model = TextCategorizer(TextVectorizer(), model="linear").fit(["corn falls", "rates rise"] * 5, ["c", "r"] * 5)
    >>> list(count_terms(model, ["corn and corn"]).rows())
    [(0, 'words', 'corn', 2)]
    """
    features = model.features(texts)
    counts, terms = {}, {}
    for view in read_views(model):
        terms[view.name] = view.vectorizer.get_feature_names_out().tolist()
        counts[view.name] = features.counts[:, view.start : view.start + len(terms[view.name])]
    words = np.rint(1000.0 * features.lengths).astype(np.int64) * model.model_.uses_lengths
    return TermCounts(counts, terms, words)

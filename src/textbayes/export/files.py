"""Writing of exported models, by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from textbayes.categorizer import TextCategorizer
from textbayes.core.atomic import atomic_write
from textbayes.core.errors import InputError
from textbayes.export.scoring import Scoring

FORMATS = ("json", "sql", "onnx")


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
        Of kind linear, multinomial or counts, a pool of these, or an automatic training.
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
    from textbayes.export.collect import scoring_of

    write = writer_for(path)
    parts = write(scoring_of(model))
    with atomic_write(path) as stream:
        for part in parts:
            stream.write(part if isinstance(part, bytes) else part.encode("utf-8", "backslashreplace"))


def writer_for(path: str | Path) -> Callable[[Scoring], Iterable[str | bytes]]:
    """The function that makes the parts of a file of this name.

    Parameters
    ----------
    path : str or Path
    """
    ending = Path(path).suffix.lower().removeprefix(".")
    if ending == "json":
        from textbayes.export.as_json import to_json

        return to_json
    if ending == "sql":
        from textbayes.export.as_sql import to_sql

        return to_sql
    if ending == "onnx":
        from textbayes.export.as_onnx import to_onnx

        return to_onnx
    raise InputError(f"{path} does not say what to write; end its name in {', '.join('.' + one for one in FORMATS)}")

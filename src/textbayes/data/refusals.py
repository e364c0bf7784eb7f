"""Files that hold texts in a form that is not read, and what to do with each: better said than read as plain text."""

from __future__ import annotations

from pathlib import Path

from textbayes.core.errors import NotSupportedError
from textbayes.data.decoding import ZIP_HEAD

_REFERENCES = "references for a reference manager, in a form that is not read: export them as RIS"
_DOCUMENT = "a document with a layout, not text: save it as plain text (.txt)"
_ENDINGS = {
    (".enw", ".ciw"): _REFERENCES,
    (".xls", ".xlsb", ".ods", ".numbers"): "a workbook in a form that is not read: save it as .xlsx or CSV",
    (".docx", ".doc", ".odt", ".rtf", ".pdf", ".pptx", ".ppt", ".odp", ".epub"): _DOCUMENT,
    (".svm", ".svmlight", ".libsvm"): "vectors, not texts; read it with textbayes.data.read_svmlight",
    (".msg", ".pst"): "mail as Outlook keeps it: save the messages as .eml, or export the folder as .mbox",
    (".7z", ".rar", ".zst"): "an archive of a kind that is not read: pack it as .zip, .tar.gz or .gz",
    (".tb",): "a model file, where texts are needed; name it as MODEL",
}
_HEADS = {b"%0 ": _REFERENCES}
# Files in the zip archive that an office document is.
_PARTS = {
    b"word/": _DOCUMENT,
    b"ppt/": _DOCUMENT,
    b"mimetypeapplication/vnd.oasis": "an OpenDocument file: save it as "
    ".xlsx or CSV if it is a workbook, as plain text if it is a document",
}


def refuse_by_name(name: str, path: Path) -> None:
    """Refuse a file by how its name (in lower case, without a compression's ending) ends."""
    for endings, what in _ENDINGS.items():
        if name.endswith(endings):
            raise NotSupportedError(f"{path} holds {what}")


def refuse_by_content(head: bytes, label: str) -> None:
    """Refuse an input of unknown name by its first bytes."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    for sign, what in _HEADS.items():
        if start.startswith(sign):
            raise NotSupportedError(f"{label} holds {what}")
    if head.startswith(ZIP_HEAD):
        for sign, what in _PARTS.items():
            if sign in head:
                raise NotSupportedError(f"{label} holds {what}")

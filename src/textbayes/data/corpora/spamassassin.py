"""The SpamAssassin public mail corpus: easy and hard ham, and spam, of 2002 to 2005.

corpus = load_corpus("spamassassin", classes="three")
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from textbayes.core.errors import CorpusNotFoundError
from textbayes.core.validation import check_choice
from textbayes.data.catalogue import CORPORA, Corpus, CorpusInfo, corpus_counts
from textbayes.data.download import PublicFile
from textbayes.data.formats import Record
from textbayes.data.formats.jsonl import read_jsonl
from textbayes.data.formats.mail import mail_text, read_mail

_GROUPS = ("easy_ham", "easy_ham_2", "hard_ham", "spam", "spam_2")
# the groups as the JSON lines packaging calls them
_ALIASES = {group.replace("_", "-") + ("" if group.endswith("2") else "-1"): group for group in _GROUPS}
_ARCHIVES = {
    "easy_ham": "20030228_easy_ham.tar.bz2",
    "easy_ham_2": "20030228_easy_ham_2.tar.bz2",
    "hard_ham": "20030228_hard_ham.tar.bz2",
    "spam": "20030228_spam.tar.bz2",
    "spam_2": "20050311_spam_2.tar.bz2",
}


def load_spamassassin(path: Path, *, text: str = "body", classes: str = "two") -> Corpus:
    """Mails sorted by group and number; the part of a mail is its group.

    Parameters
    ----------
    path : Path
        ``spamassassin.jsonl.gz``, or a folder that holds it, the five public archives, or their unpacked folders.
    text : {"body", "raw"}
        Subject and readable body, or the whole source of the mail.
    classes : {"two", "three", "five"}
        ``ham`` and ``spam``; ``easy_ham``, ``hard_ham`` and ``spam``; or the five groups.
    """
    check_choice("text", text, ("body", "raw"))
    check_choice("classes", classes, tuple(_CLASSES))
    records = (
        Record(
            mail_text(raw) if text == "body" else raw, (_CLASSES[classes][group],), identity, fields={"split": group}
        )
        for group, identity, raw in sorted(_mails(path))
    )
    return Corpus.of_records("spamassassin", records)


_CLASSES = {
    "two": {group: "spam" if group.startswith("spam") else "ham" for group in _GROUPS},
    "three": {group: group.removesuffix("_2") for group in _GROUPS},
    "five": {group: group for group in _GROUPS},
}


def _mails(path: Path) -> Iterator[tuple[str, str, str]]:
    packed = path if path.is_file() else next(iter(sorted(path.glob("spamassassin*.jsonl*"))), None)
    if packed is not None and ".jsonl" in packed.name:
        for record in read_jsonl(packed):
            yield _ALIASES[record.fields["group"]], str(record.id), record.text
        return
    for group in _GROUPS:
        places = [path / group, *sorted(path.glob(f"*[0-9]_{group}.tar*"))]
        place = next((place for place in places if place.exists()), None)
        if place is None:
            wanted = " or ".join((f"folder {group}", _ARCHIVES[group]))
            raise CorpusNotFoundError(f"corpus 'spamassassin': {path} lacks {wanted}; fetch the missing group")
        for record in read_mail(path if place.is_dir() else place, part="raw"):
            folder, _, name = record.fields["path"].rpartition("/")
            if folder == group and name != "cmds":  # a list of shell commands left among the mails
                yield group, name, record.text


def _count(path: Path) -> dict[str, int]:
    return corpus_counts(load_spamassassin(path, text="raw"))


CORPORA.register("spamassassin")(
    CorpusInfo(
        name="spamassassin",
        title="SpamAssassin public mail corpus: easy ham, hard ham, spam",
        homepage="https://spamassassin.apache.org/old/publiccorpus/",
        licence="public; senders keep the copyright of their mails; research use",
        load=load_spamassassin,
        expected={
            "documents": 6_046,
            "easy_ham": 2_500,
            "easy_ham_2": 1_400,
            "hard_ham": 250,
            "spam": 500,
            "spam_2": 1_396,
        },
        files=("spamassassin*.jsonl*", "*_easy_ham.tar*", "easy_ham"),
        obtain="fetch the archives easy_ham, easy_ham_2, hard_ham, spam and spam_2 from the homepage into one folder",
        downloads=tuple(
            PublicFile(filename, (f"https://spamassassin.apache.org/old/publiccorpus/{filename}",), largest=20_000_000)
            for filename in _ARCHIVES.values()
        ),
        count=_count,
    )
)

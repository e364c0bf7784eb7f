"""Tables 4 and 5 and Figure 2: batch-adaptive filtering, on OHSUMED where it is there and on the arXiv stream.

Tables 4 and 5 are the paper's own, on OHSUMED as TREC-9 had it. Where the files are not there, the published figures
stand alone; tables 4a, 5a and figure 2a are the same experiment on the arXiv stream. Table 4b shows what the number of
labelled documents does to it, and what happens when relevance is not rationed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from textbayes.reproduce.results import Progress, Result

_OHSUMED = ("table 4", "table 5", "figure 2")
_ARXIV = ("table 4a", "table 5a", "figure 2a", "table 4b")
NUMBERS = (*_OHSUMED, *_ARXIV)


def corpora_for(wanted: Collection[str]) -> tuple[str, ...]:
    """The arXiv stream for its own; OHSUMED is used if it is there, and not asked for."""
    return ("arxiv_cs",) if set(wanted).intersection(_ARXIV) else ()


def tables(wanted: Collection[str], quick: bool, progress: Progress) -> Iterator[Result]:
    """Yield the wanted results as they are done. ``quick``: eight topics, and no Table 4b."""
    # numba and scikit-learn: only when something is run
    from textbayes.reproduce.online import filtering_protocol as protocol
    from textbayes.reproduce.online import filtering_tables

    only = 8 if quick else None
    if set(wanted).intersection(_OHSUMED):
        there = protocol.ohsumed_is_there()
        results = filtering_tables.run(protocol.ohsumed(only=only), progress) if there else None
        yield from filtering_tables.results(results, wanted, "")
    if set(wanted).intersection(_ARXIV[:-1]):
        progress("reading arXiv", 0, 1)
        collection = protocol.arxiv(only=only)
        progress("reading arXiv", 1, 1)
        yield from filtering_tables.results(filtering_tables.run(collection, progress), wanted, "a")
    if "table 4b" in wanted and not quick:
        yield filtering_tables.rations(progress)

"""Scoring as SQL: tables of words and weights, and views that turn counts of terms into probabilities and decisions.

The script is plain SQL that SQLite (3.35, with its mathematical functions), DuckDB and PostgreSQL read alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from textbayes._version import __version__
from textbayes.core.errors import NotSupportedError
from textbayes.export.scoring import Scoring

_NOT_SQL = re.compile("[\x00\ud800-\udfff]")
_AT_ONCE = 500  # rows of an INSERT; SQLite would take no more than 32,766 values

_HEAD = """\
-- A model of textbayes {version}: {n_terms:,} terms, {n_labels} labels ({kind}).
--
-- 1. Run this script once.
-- 2. Fill the two tables of input:
--      textbayes_documents (doc_id, words): the texts, and how many words each has {lengths};
--      textbayes_counts (doc_id, view_name, term, n): how often a text has a term, as each view of the model reads it.
--        Terms that the model does not know may be among them; rows of one term are added up. Views read{views}
-- 3. Read textbayes_probabilities (doc_id, label, probability) and textbayes_decisions (doc_id, label).

BEGIN;
CREATE TABLE textbayes_documents (doc_id BIGINT PRIMARY KEY, words INTEGER);
CREATE TABLE textbayes_counts (doc_id BIGINT, view_name TEXT, term TEXT, n INTEGER);
CREATE TABLE textbayes_labels (label_id INTEGER PRIMARY KEY, label TEXT, intercept DOUBLE PRECISION,
  per_thousand DOUBLE PRECISION, with_words DOUBLE PRECISION, slope DOUBLE PRECISION, shift DOUBLE PRECISION,
  hint DOUBLE PRECISION, threshold DOUBLE PRECISION);
CREATE TABLE textbayes_terms (term_id INTEGER, block INTEGER, view_name TEXT, term TEXT,
  idf DOUBLE PRECISION);
CREATE TABLE textbayes_weights (term_id INTEGER, label_id INTEGER, weight DOUBLE PRECISION);
"""

_LENGTH = """
    + d.words / 1000.0 * l.per_thousand + CASE WHEN d.words > 0 THEN l.with_words ELSE 0 END"""

_INDEX = """\
CREATE INDEX textbayes_terms_by_term ON textbayes_terms (term, view_name);
CREATE INDEX textbayes_weights_by_term ON textbayes_weights (term_id);
"""

_SCORES = """\
CREATE VIEW textbayes_scores AS
WITH counted AS (
  SELECT doc_id, view_name, term, SUM(n) AS n FROM textbayes_counts GROUP BY doc_id, view_name, term HAVING SUM(n) > 0
), valued AS (
  SELECT c.doc_id, t.block, t.term_id, {value} * t.idf AS value
  FROM counted c JOIN textbayes_terms t ON t.term = c.term AND t.view_name = c.view_name
), lengths AS (
  SELECT doc_id, block, {norm} AS norm FROM valued GROUP BY doc_id, block
), weighted AS (
  SELECT v.doc_id, w.label_id, SUM(v.value / l.norm * w.weight) AS score
  FROM valued v JOIN lengths l ON l.doc_id = v.doc_id AND l.block = v.block
  JOIN textbayes_weights w ON w.term_id = v.term_id
  WHERE l.norm > 0 GROUP BY v.doc_id, w.label_id
)
SELECT d.doc_id, l.label_id, l.intercept + COALESCE(t.score, 0){length} AS score
FROM textbayes_documents d CROSS JOIN textbayes_labels l
LEFT JOIN weighted t ON t.doc_id = d.doc_id AND t.label_id = l.label_id;
"""

_HINTED = """\
CREATE VIEW textbayes_final AS
WITH first_pass AS (
  SELECT s.doc_id, s.label_id, s.score, l.hint, (s.score - l.shift) / l.slope AS own
  FROM textbayes_scores s JOIN textbayes_labels l ON l.label_id = s.label_id
), none AS (
  SELECT doc_id, label_id, score, hint, {none} AS log_no FROM first_pass
), all_none AS (
  SELECT doc_id, SUM(log_no) AS log_no FROM none GROUP BY doc_id
)
SELECT n.doc_id, n.label_id, n.score + n.hint * (1.0 - {others}) AS score
FROM none n JOIN all_none a ON a.doc_id = n.doc_id;
"""

_OWN = """\
CREATE VIEW textbayes_probabilities AS
SELECT s.doc_id, s.label_id, l.label, {own} AS probability
FROM {scores} s JOIN textbayes_labels l ON l.label_id = s.label_id;
"""

_SHARED = """\
CREATE VIEW textbayes_probabilities AS
WITH logs AS (
  SELECT doc_id, label_id, {log} AS score FROM {scores} s
), highest AS (
  SELECT doc_id, MAX(score) AS score FROM logs GROUP BY doc_id
), odds AS (
  SELECT g.doc_id, g.label_id, {odds} AS odds
  FROM logs g JOIN highest h ON h.doc_id = g.doc_id
), total AS (
  SELECT doc_id, SUM(odds) AS odds FROM odds GROUP BY doc_id
)
SELECT o.doc_id, o.label_id, l.label, o.odds / t.odds AS probability
FROM odds o JOIN total t ON t.doc_id = o.doc_id JOIN textbayes_labels l ON l.label_id = o.label_id;
"""

_BY_THRESHOLD = """\
CREATE VIEW textbayes_decisions AS
SELECT p.doc_id, p.label FROM textbayes_probabilities p JOIN textbayes_labels l ON l.label_id = p.label_id
WHERE p.probability > l.threshold;
"""

_LIKELIEST = """\
CREATE VIEW textbayes_decisions AS
SELECT doc_id, label FROM (
  SELECT doc_id, label, probability,
    ROW_NUMBER() OVER (PARTITION BY doc_id ORDER BY probability DESC, label_id) AS place
  FROM textbayes_probabilities
) ranked WHERE place = 1 AND probability >= {least};
"""

_BINARY = """\
CREATE VIEW textbayes_decisions AS
SELECT p.doc_id, CASE WHEN p.probability > l.threshold THEN l.label ELSE {other} END AS label
FROM textbayes_probabilities p JOIN textbayes_labels l ON l.label_id = p.label_id;
"""

_VALUES = {"raw": "c.n", "binary": "1.0", "log": "(1.0 + ln(c.n))", "log2": "(1.0 + ln(c.n) / 0.6931471805599453)"}


def to_sql(scoring: Scoring) -> Iterator[str]:
    """The statements of an SQL script; links other than the logit and negative binomials are refused.

    Parameters
    ----------
    scoring : Scoring
    """
    if scoring.link != "logit":
        raise NotSupportedError(
            f"SQL has no function for the {scoring.link} link; export JSON, or train with --link logit"
        )
    if scoring.dispersed:
        raise NotSupportedError(
            "negative binomials need sums over the counts of a word, which SQL makes slow; export JSON, or train "
            "counts:model=dirichlet_poisson"
        )
    yield _HEAD.format(**_head_values(scoring))
    yield from _inserts("textbayes_labels", _labels(scoring))
    yield from _inserts("textbayes_terms", _terms(scoring))
    yield from _inserts("textbayes_weights", _weights(scoring))
    yield _INDEX
    blocks = list(enumerate(scoring.blocks))
    values = " ".join(f"WHEN {number} THEN {_VALUES[block.tf]}" for number, block in blocks)
    cosine = [str(number) for number, block in blocks if block.cosine]
    norm = f"CASE WHEN block IN ({', '.join(cosine)}) THEN sqrt(SUM(value * value)) ELSE 1.0 END" if cosine else "1.0"
    yield _SCORES.format(value=f"CASE t.block {values} END", norm=norm, length=_LENGTH if scoring.length else "")
    scores = "textbayes_scores"
    if scoring.hints is not None:
        yield _HINTED.format(none=_log_own("(-own)"), others=_exp("(a.log_no - n.log_no)"))
        scores = "textbayes_final"
    if scoring.normalise == "none":
        yield _OWN.format(own=_exp(_log_own("s.score")), scores=scores)
    else:
        log = "s.score" if scoring.normalise == "softmax" else f"{scoring.sharpness!r} * {_log_own('s.score')}"
        yield _SHARED.format(log=log, scores=scores, odds=_exp("(g.score - h.score)"))
    if scoring.thresholds is None:
        yield _LIKELIEST.format(least=repr(scoring.least))
    elif scoring.space.kind == "binary":
        yield _BINARY.format(other=_quoted(scoring.space.class_names[0]))
    else:
        yield _BY_THRESHOLD
    yield "COMMIT;\n"


def _head_values(scoring: Scoring) -> dict[str, object]:
    lines = (" ".join(f"{_quoted(name)}: {what}".split()) for name, what in _views(scoring))  # a comment is one line
    views = "".join(f"\n--          {line}" for line in lines)
    return {
        "version": __version__,
        "n_terms": sum(len(block.terms) for block in scoring.blocks),
        "n_labels": scoring.space.n_columns,
        "kind": scoring.space.kind,
        "lengths": "(stop words too)" if scoring.length else "(this model does not ask)",
        "views": views,
    }


def _views(scoring: Scoring) -> Iterator[tuple[str, str]]:
    """Each view by name, and what its terms are."""
    for name, reading in {block.name: block.reading for block in scoring.blocks}.items():
        if reading.reads_words:
            low, high = reading.ngrams
            what = f"stems (stemmer {reading.stemmer})" if reading.stemmer else "words"
            what += f", {low} to {high} of them with spaces between" if high > 1 else ""
            what += f", without {len(reading.stop_words)} stop words" if reading.stop_words else ""
        else:
            what = "n-grams of {} to {} characters".format(*reading.runs[0][2:])
        yield name, what + (" of the first line" if reading.head else "")


def _labels(scoring: Scoring) -> Iterator[list[object]]:
    n_columns = scoring.space.n_columns
    hints = scoring.hints or [np.full(n_columns, value) for value in (1.0, 0.0, 0.0)]
    thresholds: Sequence[float | None] = scoring.thresholds or [None] * n_columns
    for column, name in enumerate(scoring.space.column_names):
        numbers = [scoring.intercept, scoring.per_thousand, scoring.with_words, *hints]
        yield [column, name, *(float(one[column]) for one in numbers), thresholds[column]]


def _terms(scoring: Scoring) -> Iterator[list[object]]:
    first = 0
    for number, block in enumerate(scoring.blocks):
        for place in block.used:
            yield [first + place, number, block.name, block.terms[place], float(block.idf[place])]
        first += len(block.terms)


def _weights(scoring: Scoring) -> Iterator[list[object]]:
    first = 0
    for block in scoring.blocks:
        terms, columns = np.nonzero(block.weights.T)
        for term, column in zip(terms.tolist(), columns.tolist(), strict=True):
            yield [first + term, column, float(block.weights[column, term])]
        first += len(block.terms)


def _inserts(table: str, rows: Iterable[Sequence[object]]) -> Iterator[str]:
    waiting: list[str] = []
    for row in rows:
        waiting.append(f"({', '.join(map(_literal, row))})")
        if len(waiting) == _AT_ONCE:
            yield f"INSERT INTO {table} VALUES\n" + ",\n".join(waiting) + ";\n"
            waiting = []
    if waiting:
        yield f"INSERT INTO {table} VALUES\n" + ",\n".join(waiting) + ";\n"


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float):  # with an exponent, so that no dialect reads a decimal of few digits
        return f"{value!r}e0" if "e" not in repr(value) else repr(value)
    return repr(value)


def _quoted(text: str) -> str:
    if _NOT_SQL.search(text):
        raise NotSupportedError(
            f"SQL cannot write {text!a:.60}, a word or a label with a NUL or half a surrogate pair; export JSON, "
            "or train without these characters"
        )
    return "'" + text.replace("'", "''") + "'"


def _log_own(score: str) -> str:
    """Logarithm of the probability that belongs to a score."""
    below = f"CASE WHEN {score} < 0 THEN {score} ELSE 0.0 END"
    return f"({below} - ln(1.0 + {_exp(f'-abs({score})')}))"


def _exp(value: str) -> str:
    """Exponential, which some databases refuse where the result would be next to nothing."""
    return f"exp(CASE WHEN {value} < -700 THEN -700.0 ELSE {value} END)"

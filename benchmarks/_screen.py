"""What the benchmarks of screening share: the reviews, tables learnt from the other reviews, and intervals."""

from __future__ import annotations

import csv
import functools
import hashlib
import io
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import platformdirs

from textbayes.core.atomic import atomic_write
from textbayes.core.types import BoolArray, FloatArray
from textbayes.data import corpus_path, load_corpus
from textbayes.knowledge import WordPriors
from textbayes.screen import Collection
from textbayes.screen.settings import TOPIC
from textbayes.screen.transfer import FinishedReview, mean_weights, review_weights
from textbayes.text.sentences import SentenceVectorizer

OTHERS = ("Bannach-Brown_2019", "Kitchenham_2010", "Nagtegaal_2019")  # of the corpus: the rest are drug reviews


class Review(NamedTuple):
    """A review with its question, and the prior table of other reviews."""

    name: str
    texts: list[str]
    relevant: BoolArray
    question: str
    others: WordPriors
    of_drugs: bool

    def collection(self, question: str | None = None, prior: bool = True, vectors: bool = False) -> Collection:
        """Its records, with a question if one is given, and with sentence vectors if wanted."""
        ids = [str(i) for i in range(len(self.texts))]
        asked, table = {TOPIC: question} if question else {}, self.others if prior else None
        if not vectors:
            return Collection.read(ids, self.texts, [TOPIC], asked, table)
        model, known = sentence_vectors(self)
        return Collection.read(ids, self.texts, [TOPIC], asked, table, model, known)


def finished_reviews() -> dict[str, FinishedReview]:
    """All reviews of the corpus, and the six of other kinds beside it, with what was included in the end."""
    corpus = load_corpus("systematic_reviews")
    split = np.array(corpus.split)
    finished = {}
    for name in corpus.parts:
        at = np.flatnonzero(split == name)
        relevant = np.array([corpus.labels[i] == ("included",) for i in at])
        finished[name] = FinishedReview([corpus.texts[i] for i in at], relevant)
    with tarfile.open(_more() / "csv.tar.xz") as archive:
        for member in archive.getmembers():
            rows = list(csv.DictReader(io.TextIOWrapper(archive.extractfile(member), "utf-8", newline="")))
            texts = [f"{row['title']}\n{row['abstract']}".strip() or "untitled" for row in rows]
            relevant = np.array([row["label_included"] == "1" for row in rows])
            finished[Path(member.name).stem] = FinishedReview(texts, relevant)
    return finished


def drug_reviews() -> dict[str, FinishedReview]:
    """Those that the table is learnt from."""
    more = json.loads((_more() / "questions.json").read_text())
    return {name: review for name, review in finished_reviews().items() if name not in (*OTHERS, *more)}


def reviews() -> list[Review]:
    """The same with questions and tables of the drug reviews; no table has seen the review that it is for."""
    finished, of_drugs = finished_reviews(), drug_reviews()
    files = (corpus_path("systematic_reviews") / "questions.json", _more() / "questions.json")
    questions = {name: asked for file in files for name, asked in json.loads(file.read_text()).items()}
    weights = {name: review_weights(review) for name, review in of_drugs.items()}
    found = []
    for name, review in finished.items():
        asked = f"{questions[name]['title']}. {questions[name]['question']}"
        others = mean_weights([told for other, told in weights.items() if other != name])
        found.append(Review(name, list(review.texts), review.relevant, asked, others, name in of_drugs))
    return found


@functools.cache
def _sentence_model() -> SentenceVectorizer:
    return SentenceVectorizer().fit([])


def sentence_vectors(review: Review) -> tuple[SentenceVectorizer, dict[str, FloatArray]]:
    """The packaged sentence model, and its vectors of the records and the question: computed once on a machine."""
    model = _sentence_model()
    texts = list(dict.fromkeys([*review.texts, review.question]))
    digest = hashlib.sha256(model.fingerprint_.encode())
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    file = platformdirs.user_cache_path("textbayes") / "benchmarks" / f"vectors-{digest.hexdigest()[:16]}.npy"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(file) as stream:
            np.save(stream, model.transform(texts).toarray().astype(np.float32))
    return model, dict(zip(texts, np.load(file), strict=True))


def _more() -> Path:
    """Where the six reviews of other kinds are: beside the corpus."""
    return corpus_path("systematic_reviews").parent / "systematic_reviews_more"


def closest_reviews(all_reviews: list[Review]) -> list[int]:
    """For each review the other one whose included records are most alike."""
    texts = [" ".join(np.array(review.texts, dtype=object)[review.relevant]) for review in all_reviews]
    X = Collection.read([review.name for review in all_reviews], texts, [TOPIC]).X
    alike = (X @ X.T).toarray()
    np.fill_diagonal(alike, -1.0)
    return alike.argmax(axis=1).tolist()


def in_parallel(function, items, jobs):
    """The results of a function for each item, in order; kernels let go of the interpreter."""
    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(function, items))


def ratio_interval(ours: FloatArray, theirs: FloatArray) -> tuple[float, float, float]:
    """Ratio of the mean losses over reviews, with its 95 % interval (bootstrap over reviews)."""
    drawn = np.random.default_rng(0).integers(len(ours), size=(10_000, len(ours)))
    low, high = np.quantile(ours[drawn].sum(axis=1) / theirs[drawn].sum(axis=1), [0.025, 0.975])
    return float(ours.mean() / theirs.mean()), float(low), float(high)

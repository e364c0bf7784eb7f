"""Hyperparameters found by the data: scales, links, and how far to follow prior knowledge."""

from textbayes.core.lazy import on_first_use

_PUBLIC = {
    "BayesLinearClassifierCV": "textbayes.tune.classifier",
    "EvidenceSearch": "textbayes.tune.evidence",
    "LinkComparison": "textbayes.tune.links",
    "LinkReport": "textbayes.tune.links",
    "LinkSearch": "textbayes.tune.links",
    "Path": "textbayes.tune.path",
    "ScaleSearch": "textbayes.tune.search",
    "WeightChoice": "textbayes.tune.prior_weight",
    "choose_weight": "textbayes.tune.prior_weight",
    "factor_grid": "textbayes.tune.grid",
    "link_report": "textbayes.tune.links",
    "log_evidence": "textbayes.tune.evidence",
    "narrowest_factor": "textbayes.tune.grid",
    "norm_scale": "textbayes.tune.grid",
    "norm_variance": "textbayes.tune.grid",
    "regularisation_path": "textbayes.tune.path",
    "search_evidence": "textbayes.tune.evidence",
    "search_link": "textbayes.tune.links",
    "search_scale": "textbayes.tune.search",
    "skew_t_links": "textbayes.tune.links",
}

__all__ = sorted(_PUBLIC)

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)

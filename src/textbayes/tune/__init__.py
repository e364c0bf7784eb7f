"""Hyperparameters found by the data: paths of scales, cross-validation, evidence, norms, and the choice of a link."""

from textbayes.core.lazy import on_first_use

_PUBLIC = {
    "BayesLinearClassifierCV": "textbayes.tune.classifier",
    "EvidenceSearch": "textbayes.tune.evidence",
    "LinkComparison": "textbayes.tune.link_comparison",
    "LinkReport": "textbayes.tune.link_comparison",
    "LinkSearch": "textbayes.tune.link_search",
    "Path": "textbayes.tune.path",
    "ScaleSearch": "textbayes.tune.search",
    "factor_grid": "textbayes.tune.grid",
    "link_report": "textbayes.tune.link_comparison",
    "log_evidence": "textbayes.tune.evidence",
    "narrowest_factor": "textbayes.tune.grid",
    "norm_scale": "textbayes.tune.norm",
    "norm_variance": "textbayes.tune.norm",
    "regularisation_path": "textbayes.tune.path",
    "search_evidence": "textbayes.tune.evidence",
    "search_link": "textbayes.tune.link_search",
    "search_scale": "textbayes.tune.search",
    "skew_t_links": "textbayes.tune.link_search",
}

__all__ = [
    "BayesLinearClassifierCV",
    "EvidenceSearch",
    "LinkComparison",
    "LinkReport",
    "LinkSearch",
    "Path",
    "ScaleSearch",
    "factor_grid",
    "link_report",
    "log_evidence",
    "narrowest_factor",
    "norm_scale",
    "norm_variance",
    "regularisation_path",
    "search_evidence",
    "search_link",
    "search_scale",
    "skew_t_links",
]

__getattr__, __dir__ = on_first_use(__name__, _PUBLIC)

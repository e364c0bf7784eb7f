"""Hyperparameters found by the data: scales, links, and how far to follow prior knowledge."""

from textbayes.core.lazy import on_first_use

__getattr__, __dir__, __all__ = on_first_use(
    __name__,
    {
        "textbayes.tune.classifier": ("BayesLinearClassifierCV",),
        "textbayes.tune.evidence": ("EvidenceSearch", "log_evidence", "search_evidence"),
        "textbayes.tune.links": (
            "LinkComparison",
            "LinkReport",
            "LinkSearch",
            "candidate_links",
            "link_report",
            "search_link",
            "skew_t_links",
        ),
        "textbayes.tune.path": ("Path", "regularisation_path"),
        "textbayes.tune.prior_weight": ("WeightChoice", "choose_weight"),
        "textbayes.tune.search": (
            "ScaleSearch",
            "factor_grid",
            "narrowest_factor",
            "norm_scale",
            "norm_variance",
            "search_scale",
        ),
        "textbayes.tune.sparsity": ("SparsityPath", "SparsityPoint", "sparsity_path"),
    },
)

"""Measures of decisions, probabilities and filtering runs, and tests of whether two systems differ.

Decisions are indicators (n_docs, n_labels); ``contingency`` counts them, measures are pure functions of the counts.
"""

from textbayes.evaluate.bootstrap import BootstrapResult, paired_bootstrap
from textbayes.evaluate.calibration import (
    ReliabilityCurve,
    average_log_evidence,
    brier_loss,
    calibration_error,
    class_log_losses,
    log_loss,
    reliability_curve,
)
from textbayes.evaluate.compare import compare, sign_test_power
from textbayes.evaluate.comparison import Comparison
from textbayes.evaluate.confusion import Confused, confusion
from textbayes.evaluate.contingency import ContingencyTable, contingency
from textbayes.evaluate.filtering import (
    filtering_summary,
    linear_utility,
    scaled_utility,
    t9p,
    t9u,
    t11su,
    t11u,
    zero_returns,
)
from textbayes.evaluate.measures import (
    accuracy,
    break_even,
    error_rate,
    f_measure,
    precision,
    recall,
    sensitivity,
    specificity,
)
from textbayes.evaluate.paired import Difference, paired_difference
from textbayes.evaluate.significance import (
    TestResult,
    macro_sign_test,
    mcnemar_test,
    micro_sign_test,
    sign_test,
    significance_symbol,
)
from textbayes.evaluate.summary import evaluate

__all__ = [
    "BootstrapResult",
    "Comparison",
    "Confused",
    "ContingencyTable",
    "Difference",
    "ReliabilityCurve",
    "TestResult",
    "accuracy",
    "average_log_evidence",
    "break_even",
    "brier_loss",
    "calibration_error",
    "class_log_losses",
    "compare",
    "confusion",
    "contingency",
    "error_rate",
    "evaluate",
    "f_measure",
    "filtering_summary",
    "linear_utility",
    "log_loss",
    "macro_sign_test",
    "mcnemar_test",
    "micro_sign_test",
    "paired_bootstrap",
    "paired_difference",
    "precision",
    "recall",
    "reliability_curve",
    "scaled_utility",
    "sensitivity",
    "sign_test",
    "sign_test_power",
    "significance_symbol",
    "specificity",
    "t9p",
    "t9u",
    "t11su",
    "t11u",
    "zero_returns",
]

"""The figures of Chai, Ng & Chieu (2002) as printed: Reuters-21578, and batch-adaptive filtering of OHSUMED."""

from __future__ import annotations

SVMS = ("SVMa-1", "SVMa-2", "SVMa-R1", "SVMb-1", "SVMb-2", "SVMb-R1")
BAYESIAN = ("Perceptron", "GP-1", "GP-2", "GP-R1")
SYSTEMS = (*SVMS, *BAYESIAN)
RULES = ("0.5", "MaxF1", "ExpectedF1")

Pair = tuple[float, float]

# Table 2: micro- and macro-average F1 × 100 by rule; the last one needs probabilities, which an SVM has not
F1: dict[str, tuple[Pair | None, ...]] = {
    "SVMa-1": ((86.15, 42.63), (86.35, 56.92), None),
    "SVMa-2": ((85.44, 40.13), (86.19, 56.42), None),
    "SVMa-R1": ((84.99, 37.61), (86.63, 53.14), None),
    "SVMb-1": ((85.60, 52.03), (85.05, 52.43), None),
    "SVMb-2": ((85.60, 50.53), (84.50, 50.49), None),
    "SVMb-R1": ((85.75, 50.52), (84.65, 51.27), None),
    "Perceptron": ((85.12, 45.23), (86.69, 52.16), (86.44, 53.08)),
    "GP-1": ((85.08, 45.20), (86.73, 52.12), (86.54, 53.12)),
    "GP-2": ((85.58, 47.90), (86.60, 52.19), (86.77, 55.04)),
    "GP-R1": ((85.18, 44.88), (86.76, 52.61), (86.93, 53.35)),
}

# Table 3: s-test / S-test with MaxF1 thresholds, each row against the systems of the columns
SIGN_TESTS = """
SVMa-1           ~/~    </~    >>/>>  >>/>>  >>/>>  <</>>  <</>>  <</>>  <</>>
SVMa-2    ~/~           <</~   >/>>   >>/>>  >>/>>  <</>>  <</>>  <</~   <</>
SVMa-R1   >/~    >>/~          >>/~   >>/>>  >>/>>  </>    </>    ~/~    </~
SVMb-1    <</<<  </<<   <</~          >>/~   >/>    <</<   <</~   <</<   <</<
SVMb-2    <</<<  <</<<  <</<<  <</~          ~/~    <</<   <</<   <</<<  <</<<
SVMb-R1   <</<<  <</<<  <</<<  </<    ~/~           <</<   <</<<  <</<<  <</<<
Perceptron >>/<< >>/<<  >/<    >>/>   >>/>   >>/>          ~/~    ~/~    ~/~
GP-1      >>/<<  >>/<<  >/<    >>/~   >>/>   >>/>>  ~/~           ~/~    ~/~
GP-2      >>/<<  >>/~   ~/~    >>/>   >>/>>  >>/>>  ~/~    ~/~           ~/~
GP-R1     >>/<<  >>/<   >/~    >>/>   >>/>>  >>/>>  ~/~    ~/~    ~/~
"""

# Tables 6 and 7: micro- and macro-average F1 × 100 with MaxF1 thresholds, and average log-evidence, of the perceptron
LIKELIHOODS: dict[str, tuple[float, float, float]] = {
    "Logit": (86.48, 52.75, -45.02),
    "Probit": (86.69, 52.16, -34.32),
    "Flip": (85.94, 53.00, -368.8),
}
PASSES: dict[int, tuple[float, float, float]] = {
    1: (87.08, 52.87, -35.56),
    2: (86.92, 52.63, -34.36),
    3: (86.69, 52.16, -34.32),
    4: (86.62, 52.75, -34.54),
    5: (85.22, 46.93, -34.69),
}


def sign_test_symbols() -> dict[tuple[str, str], tuple[str, str]]:
    """Table 3 by pair of systems: the symbols of the s-test and of the S-test, read from the first."""
    found = {}
    for line in SIGN_TESTS.split("\n")[1:-1]:
        first, *cells = line.split()
        others = [name for name in SYSTEMS if name != first]
        for second, cell in zip(others, cells, strict=True):
            s, S = cell.replace(">>", "≫").replace("<<", "≪").split("/")
            found[first, second] = s, S
    return found


# Rows of Table 4, by the names of textbayes.evaluate.filtering_summary; percentages are × 100 there
ROWS = {
    "Total retrieved": ("total_retrieved", 1.0),
    "Relevant retrieved": ("relevant_retrieved", 1.0),
    "Macro-average recall": ("macro_recall", 100.0),
    "Macro-average precision": ("macro_precision", 100.0),
    "Mean T9P": ("mean_t9p", 100.0),
    "Mean utility": ("mean_utility", 1.0),
    "Mean T9U": ("mean_t9u", 1.0),
    "Mean scaled utility": ("mean_scaled_utility", 1.0),
    "Zero returns": ("zero_returns", 1.0),
}

# What the machine-read text has in place of a figure: the mean utility, (3·731 − total)/63 = 17.730, tells
CORRECTED = {("Table 4", "Pptron", "Total retrieved"): (1057.0, 1076.0)}

# Table 4. Mean utility and mean T9U are equal throughout: no topic of any system fell to the floor of −100.
TABLE_4 = {
    "Microsoft": (3562.0, 1095.0, 39.5, 30.5, 30.5, -4.397, -4.397, -0.596, 0.0),
    "Fudan": (3251.0, 1061.0, 37.9, 32.2, 31.7, -1.079, -1.079, -0.461, 0.0),
    "Pptron+rel+ig": (2716.0, 1227.0, 36.2, 35.8, 31.3, 15.318, 15.318, -0.025, 0.0),
    "Pptron+ig": (2391.0, 1128.0, 33.3, 35.8, 29.8, 15.762, 15.762, 0.016, 0.0),
    "Pptron+rnd": (2533.0, 732.0, 20.0, 21.6, 19.2, -5.349, -5.349, -0.397, 0.0),
    "Pptron+rel": (1157.0, 772.0, 20.8, 61.9, 21.5, 18.397, 18.397, 0.141, 8.0),
    "Pptron": (1076.0, 731.0, 20.0, 62.3, 20.8, 17.730, 17.730, 0.138, 0.0),
}

# Table 5: relevant, not relevant, total; delivered by the classifier proper, by its question or at random, and in all
TABLE_5 = {
    "Pptron+ig": ((815.0, 378.0, 1193.0), (313.0, 885.0, 1198.0), (1128.0, 1263.0, 2391.0)),
    "Pptron+rnd": ((732.0, 345.0, 1077.0), (0.0, 1456.0, 1456.0), (732.0, 1801.0, 2533.0)),
}

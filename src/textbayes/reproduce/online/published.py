"""The figures of Chai, Ng & Chieu (2002) on Reuters-21578, as printed."""

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

"""The figures of Madahian & Faghihi (2014) as printed, and the settings it names."""

from __future__ import annotations

Row = tuple[float, ...]

# The paper's domains in its order, and the textbook domains that stand for them; there is none of art.
PRINTED_DOMAINS = (
    *("Math", "Chemistry", "CS", "Psychology", "Neuroscience"),
    *("Art", "Physics", "Electronic", "Biology", "Geology"),
)
DOMAINS = (
    *("mathematics", "chemistry", "computer_science", "psychology", "neuroscience"),
    *("economics", "physics", "electronics", "biology", "geology"),
)
# Ten domains of which no document is among those above, for what must be chosen without looking at them: the name, and
# how many of its longest documents are left out.
OTHER_DOCUMENTS = (
    *(("physics", 60), ("biology", 60), ("economics", 60), ("electronics", 60), ("geology", 60)),
    *(("anatomy", 0), ("astronomy", 0), ("statistics", 0), ("us_history", 0), ("sociology", 0)),
)
N_OF_DOMAIN = 60
N_POSITIVE, N_NEGATIVE = 30, 270  # of the training part and of the test part alike
N_WORDS, N_TOP = 800, 80
N_RESAMPLINGS = 50
LAMBDA = 0.2
ITERATIONS, BURN_IN = 60_000, 20_000

# Sensitivity and specificity of SPBM, then of SVM
TRAINING: tuple[Row, ...] = (
    (1, 1, 0.833, 1, 1, 1, 0.93, 0.97, 0.97, 0.98),
    (1, 0.97, 0.863, 1, 1, 0.99, 0.94, 1, 0.98, 0.98),
    (0.88, 1, 0.87, 0.79, 0.91, 1, 0.85, 0.79, 0.92, 0.95),
    (0.79, 1, 0.91, 0.83, 0.94, 0.87, 0.93, 0.97, 1, 1),
)
TEST: tuple[Row, ...] = (
    (0.97, 0.8, 0.67, 0.83, 0.83, 0.77, 0.83, 0.97, 0.9, 0.833),
    (0.94, 0.796, 0.796, 0.92, 0.99, 0.84, 0.82, 0.93, 0.896, 0.97),
    (0.67, 0.82, 0.73, 0.62, 0.75, 0.72, 0.8, 0.88, 0.83, 0.79),
    (0.93, 0.74, 0.81, 0.84, 0.87, 0.91, 0.74, 0.59, 0.68, 0.92),
)
PRINTED = {"table 1": TRAINING, "table 2": TEST}

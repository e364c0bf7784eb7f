"""The figures of Eyheramendy & Madigan (2007) as printed; a * of the paper, several values being best, is None."""

from __future__ import annotations

Row = tuple[float | None, ...]

# Grids of the simulated examples (section 4) and of Reuters-21578 (section 5), as printed.
EXAMPLE_DFS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 15.0, 30.0, 50.0, 100.0)
EXAMPLE_GAMMAS = (0.01, 0.1, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 20.0, 50.0, 100.0)
EXAMPLE_SKEWS = (0.01, 0.1, 0.5, 0.7, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0, 5.0, 10.0)
ENET_LAMBDAS = (0.01, 0.1, 1.0, 10.0, 100.0)
REUTERS_DFS = (1.0, 2.0, 5.0, 8.0, 30.0)
REUTERS_GAMMAS = (0.01, 0.05, 0.1, 1.0, 2.0)
REUTERS_SKEWS = (0.1, 0.5, 1.0, 1.5, 2.0)
PROBIT_DF, LOGIT_DF = 30.0, 8.0

# Tables 1 and 3: probit, logit, FST, then ν, δ, γ of FST, and the elastic net; one row per data set
EXAMPLE_1: tuple[Row, ...] = (
    (0.4, 0.4, 0.26, 1, None, None, 0.27),
    (0.27, 0.28, 0.23, 1, 1.2, 0.01, 0.27),
    (0.4, 0.4, 0.36, None, 1.2, 0.1, 0.36),
    (0.4, 0.4, 0.38, 1, None, 0.1, 0.38),
    (0.28, 0.28, 0.25, 1, None, None, 0.29),
    (0.4, 0.4, 0.36, 1, None, 0.01, 0.38),
    (0.34, 0.33, 0.30, 1, 1.2, None, 0.31),
    (0.39, 0.37, 0.31, None, None, None, 0.36),
    (0.32, 0.32, 0.31, None, None, None, 0.29),
    (0.33, 0.33, 0.31, None, None, None, 0.28),
)
EXAMPLE_2: tuple[Row, ...] = (
    (0.08, 0.08, 0.03, 1, None, None, 0.06),
    (0.15, 0.14, 0.06, 1, None, 0.01, 0.13),
    (0.13, 0.12, 0.06, 1, None, None, 0.12),
    (0.13, 0.13, 0.1, None, None, None, 0.11),
    (0.08, 0.08, 0.05, 1, None, None, 0.08),
    (0.11, 0.11, 0.08, None, None, None, 0.10),
    (0.09, 0.09, 0.07, None, None, None, 0.09),
    (0.13, 0.14, 0.09, None, None, None, 0.13),
    (0.15, 0.15, 0.07, 1, None, 0.01, 0.14),
    (0.18, 0.18, 0.12, None, None, None, 0.16),
)
# Table 2: best probit (t30) with its δ and γ, best logit (t8) with its δ and γ
EXAMPLE_1_LINKS: tuple[Row, ...] = (
    (0.28, 1.2, 1, 0.27, 1.2, 1),
    (0.26, None, 0.1, 0.26, None, 0.1),
    (0.37, 1.2, 0.1, 0.36, 1.2, 0.1),
    (0.4, None, 1, 0.4, None, 1),
    (0.28, None, None, 0.27, 1.2, 1),
    (0.39, None, 0.1, 0.39, None, 0.1),
    (0.31, 1.2, 0.1, 0.32, 1.2, 0.1),
    (0.31, None, 3, 0.32, None, 3),
    (0.31, None, 1, 0.31, None, 1),
    (0.31, None, 1, 0.31, None, 1),
)
# Table 4: weights equal to zero in the ten data sets of Example 2
ENET_ZEROS = (0, 0, 0, 2, 5, 3, 9, 6, 3, 7)
FST_ZEROS = (1, 0, 0, 0, 2, 1, 4, 0, 0, 5)

# Table 5: ν, γ, δ chosen in split 1
TOPICS = ("earn", "acq", "grain", "wheat", "crude", "trade", "interest", "corn", "ship", "money-fx")
CHOSEN_DF = (8, 2, 1, 1, 1, 1, 8, 1, 2, 2)
CHOSEN_GAMMA = (0.01, 0.1, 0.05, 0.1, 0.05, 0.05, 0.01, 0.01, 0.05, 0.05)
CHOSEN_SKEW = (1, 1, 1.5, 0.5, 1.5, 1.5, 1, 0.5, 1.5, 1.5)

# Tables 6 to 8: micro and macro of FST, probit and logistic, one row per split
F1: tuple[Row, ...] = (
    (0.862, 0.801, 0.855, 0.781, 0.857, 0.786),
    (0.853, 0.796, 0.849, 0.788, 0.853, 0.795),
    (0.863, 0.802, 0.859, 0.788, 0.861, 0.793),
    (0.871, 0.807, 0.864, 0.788, 0.866, 0.795),
    (0.874, 0.816, 0.867, 0.802, 0.869, 0.804),
)
F1_MEAN: Row = (0.865, 0.804, 0.859, 0.789, 0.861, 0.795)
F1_SD: Row = (0.008, 0.008, 0.007, 0.008, 0.006, 0.006)
RECALL: tuple[Row, ...] = (
    (0.818, 0.747, 0.790, 0.693, 0.796, 0.703),
    (0.806, 0.749, 0.785, 0.715, 0.795, 0.730),
    (0.821, 0.748, 0.796, 0.699, 0.803, 0.710),
    (0.828, 0.749, 0.803, 0.703, 0.809, 0.715),
    (0.831, 0.759, 0.805, 0.712, 0.812, 0.723),
)
RECALL_MEAN: Row = (0.821, 0.750, 0.796, 0.704, 0.803, 0.716)
RECALL_SD: Row = (0.01, 0.005, 0.008, 0.009, 0.008, 0.011)
PRECISION: tuple[Row, ...] = (
    (0.910, 0.864, 0.932, 0.894, 0.930, 0.891),
    (0.906, 0.849, 0.923, 0.878, 0.920, 0.872),
    (0.909, 0.865, 0.932, 0.902, 0.928, 0.898),
    (0.919, 0.874, 0.934, 0.897, 0.931, 0.894),
    (0.921, 0.881, 0.940, 0.917, 0.935, 0.907),
)
PRECISION_MEAN: Row = (0.913, 0.867, 0.932, 0.898, 0.929, 0.892)
PRECISION_SD: Row = (0.007, 0.012, 0.006, 0.014, 0.006, 0.013)

# The tables above by the number they have in the paper, as rows that can be looked up in its text.
PRINTED: dict[str, tuple[Row, ...]] = {
    "1": EXAMPLE_1,
    "2": EXAMPLE_1_LINKS,
    "3": EXAMPLE_2,
    "4": (ENET_ZEROS, FST_ZEROS),
    "5": (
        *(CHOSEN_DF[:5], CHOSEN_GAMMA[:5], CHOSEN_SKEW[:5]),
        *(CHOSEN_DF[5:], CHOSEN_GAMMA[5:], CHOSEN_SKEW[5:]),
    ),
    "6": (*F1, F1_MEAN, F1_SD),
    "7": (*RECALL, RECALL_MEAN, RECALL_SD),
    "8": (*PRECISION, PRECISION_MEAN, PRECISION_SD),
}

"""The figures of Eyheramendy, Genkin, Ju, Lewis & Madigan (2003), as printed; misprints of the text are put right.

``CORRECTED`` lists what the machine-read text has in place of a figure: the damage is in the scan or the print, and
neighbouring figures show what was meant.
"""

from __future__ import annotations

TOPICS = ("earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn")
AVERAGES = ("macro-average", "micro-average")
GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)

Column = tuple[float, ...]

# F1 × 100 of the ten topics, then macro- and micro-average
NAIVE_BAYES: Column = (96.6, 91.7, 70.0, 76.7, 84.1, 52.3, 68.2, 58.1, 76.4, 52.4, 72.6, 85.2)
ZHANG_OLES_LOGISTIC: Column = (98.4, 95.2, 75.2, 88.4, 85.9, 72.9, 78.2, 88.2, 81.9, 88.7, 85.3, 91.4)
ZHANG_OLES_SVM: Column = (98.1, 95.3, 74.4, 89.6, 84.8, 73.4, 75.9, 88.9, 82.4, 86.2, 84.9, 91.1)

JEFFREYS: Column = (97.1, 89.1, 59.7, 92.3, 81.1, 71.6, 43.9, 89.7, 67.1, 90.3, 78.2, 87.4)
LAPLACE: dict[float, Column] = {
    0.1: (97.4, 90.5, 59.3, 88.9, 78.9, 66.1, 56.7, 84.0, 59.7, 83.9, 76.5, 87.0),
    0.3: (97.5, 90.0, 60.4, 88.1, 82.3, 67.2, 53.1, 83.8, 65.3, 84.9, 77.3, 87.2),
    1.0: (97.5, 90.4, 64.3, 90.6, 80.1, 70.5, 62.7, 86.3, 71.9, 87.3, 80.2, 88.2),
    3.0: (97.4, 91.7, 61.8, 90.7, 82.2, 73.8, 50.3, 87.2, 75.8, 91.4, 80.2, 88.7),
    10.0: (96.9, 90.3, 65.9, 91.7, 81.3, 76.7, 51.8, 89.6, 78.8, 90.9, 81.4, 88.6),
    30.0: (96.6, 89.0, 56.8, 90.0, 76.0, 69.5, 54.2, 89.6, 76.3, 90.2, 78.8, 87.0),
}
JEFFREYS_RAW: Column = (96.6, 87.7, 55.0, 89.9, 77.7, 67.5, 49.0, 89.7, 68.9, 88.2, 77.0, 86.0)
LAPLACE_RAW: Column = (96.9, 89.3, 59.3, 88.4, 82.4, 65.4, 49.5, 87.9, 73.0, 83.6, 77.6, 87.1)
JEFFREYS_1000: Column = (96.8, 90.0, 63.7, 90.8, 76.6, 62.9, 56.0, 89.7, 66.7, 90.3, 78.4, 87.3)
LAPLACE_1000: Column = (97.2, 92.2, 70.2, 91.7, 82.5, 72.8, 63.6, 88.9, 79.7, 90.0, 82.9, 89.6)
GAUSSIAN: Column = (96.8, 89.2, 65.1, 85.1, 82.9, 71.1, 58.1, 89.0, 83.3, 86.7, 80.7, 87.9)
LOGISTIC_GAUSSIAN: Column = (97.6, 94.0, 74.9, 91.8, 85.7, 67.6, 67.9, 87.7, 79.2, 90.4, 83.7, 90.7)
LOGISTIC_LAPLACE: Column = (97.8, 92.7, 64.2, 90.7, 85.9, 70.5, 67.3, 85.7, 78.0, 90.4, 82.3, 89.8)

# Table 4: parameters left of 301, per topic
JEFFREYS_SIZES: tuple[int, ...] = (55, 67, 32, 15, 25, 20, 22, 3, 19, 6)
LAPLACE_SIZES: dict[float, tuple[int, ...]] = {
    0.1: (301, 301, 300, 280, 282, 291, 294, 275, 275, 259),
    0.3: (300, 299, 291, 251, 266, 282, 270, 203, 240, 232),
    1.0: (288, 284, 276, 192, 205, 261, 249, 127, 176, 170),
    3.0: (256, 257, 235, 142, 174, 214, 205, 90, 134, 110),
    10.0: (220, 226, 177, 92, 90, 147, 136, 41, 96, 47),
    30.0: (186, 195, 111, 46, 62, 80, 85, 14, 55, 17),
}

# Tables 7 and 8: macro- and micro-average over 101 topics of RCV1-v2
RCV1: dict[str, tuple[float, float]] = {
    "SVM": (61.9, 81.6),
    "kNN": (56.0, 76.5),
    "Rocchio": (50.4, 69.3),
    "probit Jeffreys": (39.4, 72.5),
    "probit Laplace": (47.7, 74.4),
    "probit Gaussian": (45.3, 74.9),
    "logistic Laplace 300": (48.0, 75.5),
    "logistic Laplace 3,000": (53.0, 78.9),
    "logistic Gaussian 3,000": (51.8, 79.7),
}

CORRECTED = {
    "Table 2, crude, Jeffreys raw TF": ("7.7", 77.7),
    "Table 3, corn, Laplace γ = 3": ("914", 91.4),
    "Table 4, money-fx, Laplace γ = 0.1": ("200", 300),
    "Table 8, macro-average, probit Laplace": ("A7.7", 47.7),
}

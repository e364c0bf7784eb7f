"""Tables 4 and 5 of Chai, Ng & Chieu (2002) as printed: batch-adaptive filtering on OHSUMED, 63 topics of TREC-9."""

from __future__ import annotations

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

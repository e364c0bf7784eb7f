"""Make the prior table that comes along with textbayes: mean weights of words over 14 drug reviews.

python benchmarks/make_screen_prior.py > src/textbayes/screen/reviews.csv
"""

from __future__ import annotations

import sys

from _screen import drug_reviews
from textbayes.screen.transfer import learn_prior

if __name__ == "__main__":
    sys.stdout.write(learn_prior(drug_reviews().values()).to_csv())

"""What importing costs."""

from __future__ import annotations

import subprocess
import sys


def test_numba_waits_for_the_first_text() -> None:
    program = (
        "import sys; from textbayes.text import TextVectorizer, TermWeighting, HashingTextVectorizer, load_stop_words;"
        "TextVectorizer(stop_words='smart', stemmer='porter').get_params(); load_stop_words('smart');"
        "assert 'numba' not in sys.modules, 'numba'; assert not any(name.startswith('RAKE') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

from __future__ import annotations

import subprocess
import sys

import textbayes.data


def test_public_names_are_sorted_and_there():
    assert textbayes.data.__all__ == sorted(textbayes.data.__all__, key=lambda name: (not name.isupper(), name))
    assert set(dir(textbayes.data)) == set(textbayes.data.__all__)
    for name in textbayes.data.__all__:
        assert getattr(textbayes.data, name) is not None


def test_importing_stays_cheap():
    code = (
        "import sys, textbayes.data; from textbayes.data import list_corpora, open_documents, FORMATS; list_corpora();"
        "FORMATS.names();"
        "print(*{'numba', 'pandas', 'pyarrow', 'pooch', 'requests', 'sklearn'}.intersection(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

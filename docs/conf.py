"""Sphinx configuration."""

from __future__ import annotations

from textbayes import __version__

project = "textbayes"
author = "The textbayes developers"
copyright = "2026, The textbayes developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Bayesian text categorisation", "fixed_sidebar": True}
autosummary_generate = False
numpydoc_show_class_members = False
myst_enable_extensions = ["dollarmath"]
suppress_warnings = ["myst.xref_missing"]

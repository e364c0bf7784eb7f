"""Corpora by name, one per module; adding a module that registers a ``CorpusInfo`` with ``CORPORA`` adds a corpus."""

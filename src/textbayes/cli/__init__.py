"""The command line: one command per file, imported when it runs; ``main`` is the entry point."""

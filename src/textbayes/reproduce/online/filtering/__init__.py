"""Batch-adaptive filtering: what topics are shown, the systems that filter, and the tables made of it."""

"""Kernels of online learning and filters."""

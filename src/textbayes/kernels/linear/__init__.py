"""Kernels of the solvers of linear models."""

"""Kernels of reading words."""

"""Kernels of count models, clusters and Δ²."""

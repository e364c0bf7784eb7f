"""Compiled loops. Kernels take arrays and scalars, never objects or functions, so that their cache always hits."""

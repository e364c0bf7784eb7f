"""Kernels of the softmax over classes that exclude each other."""

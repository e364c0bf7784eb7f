"""Posterior distributions of weights: draws, Gaussian approximations, mixtures, intervals."""

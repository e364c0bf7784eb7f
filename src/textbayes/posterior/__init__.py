"""What is known of weights after the documents: draws, Gaussian approximations, mixtures, intervals."""

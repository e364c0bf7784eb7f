"""A pretrained encoder that is fine-tuned on the training texts: a member of the automatic pool (extra ``encoder``)."""

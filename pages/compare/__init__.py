"""Statistics files side by side: one model on two corpora, two models, steps of a training."""

"""Comparison of statistics files: one model on two corpora, two models, steps of a training."""

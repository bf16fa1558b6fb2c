"""Tests of checkpoints that hold several models, of which one is read."""

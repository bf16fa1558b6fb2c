"""The one door to the precompute: a sequence or an image run while the reader waits."""

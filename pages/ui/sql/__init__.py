"""SQL of unknown origin, run on one file within limits."""

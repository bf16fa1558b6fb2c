"""Access to the precompute for one sequence or image, run for the waiting reader."""

"""A corpus as one model reads it, in parts on disk, so that a job reads its own part alone."""

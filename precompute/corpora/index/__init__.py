"""A corpus as one model reads it, in parts on disk, of which a job reads its own piece."""

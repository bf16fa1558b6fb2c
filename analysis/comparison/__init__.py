"""Several files side by side: what may be compared, by which numbers, and how far they differ."""

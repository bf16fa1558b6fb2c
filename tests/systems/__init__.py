"""Functions that other systems and devices lack."""

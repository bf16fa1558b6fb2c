"""The file that the reader chose: opening it, asking it, saying what it lacks."""

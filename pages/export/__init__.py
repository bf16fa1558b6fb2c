"""Export of figures and tables, and the collection of a reader."""

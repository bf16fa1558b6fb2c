"""Collection of figures, tables and texts by a reader, to be shown, kept and shared."""

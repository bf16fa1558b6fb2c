"""Figures, tables and texts that a reader collects, to be shown, kept and sent on."""

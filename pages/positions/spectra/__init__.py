"""Sections on spectra of position embeddings and of states, with their charts."""

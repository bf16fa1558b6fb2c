"""The sections on spectra, of position embeddings and of states, and what only they draw."""

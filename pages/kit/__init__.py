"""Pages as data: sections, picks, figures and findings, and the few functions that run them."""

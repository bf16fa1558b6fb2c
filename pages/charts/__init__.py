"""Charts of frames: their look, their parts, and how they fit a page."""

"""One text or image: what its tokens take from each other, and whether it is like the others."""

"""Page on dependency relations in heads, and trees from attention."""

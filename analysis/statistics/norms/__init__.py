"""Tables on norms of transformed vectors beside attention weights."""

"""Tables on relevance carried back to the input."""

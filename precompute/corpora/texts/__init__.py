"""Plain texts, one format each."""

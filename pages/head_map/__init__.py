"""Page on heads that attend alike."""

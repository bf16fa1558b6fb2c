"""What tokenizers make of texts and of words, and which word a token is a piece of."""

"""Tokenization of texts and of words, and the word that each token belongs to."""

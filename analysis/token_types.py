"""Types of tokens, in the order of their indices."""

TOKEN_TYPES = ("cls", "sep", "comma_period", "other", "register", "bos", "first")
CLS, SEP, COMMA_PERIOD, OTHER, REGISTER, BOS, FIRST = range(len(TOKEN_TYPES))
SPECIAL = (BOS, CLS, SEP)
"""Types of the tokens that frame a text and are no part of it."""

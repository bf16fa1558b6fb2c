"""Charts of one text: lines between its tokens, and where their numbers come from."""

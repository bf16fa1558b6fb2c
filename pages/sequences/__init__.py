"""Page on one text or image: shares between its tokens, and its numbers among all sequences'."""

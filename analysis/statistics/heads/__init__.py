"""Tables on the attention of single heads, and on the similarity of heads."""

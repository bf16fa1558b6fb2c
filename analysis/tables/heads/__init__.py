"""Tables on what single heads look at, and how heads resemble each other."""

"""One attention head: its numbers, the tokens, places and words it looks at, and its waves."""

"""One box that finds anything: pages, sections, heads, tokens, pairs, texts, terms."""

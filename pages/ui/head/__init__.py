"""One head: its pickers and its card."""

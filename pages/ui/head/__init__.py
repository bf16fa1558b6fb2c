"""One head: choosing it, and its card."""

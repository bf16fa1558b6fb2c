"""One head: its choice, its picker, its habits."""

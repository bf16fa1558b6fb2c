"""Overview of a file: its contents, its main findings and its soundness."""

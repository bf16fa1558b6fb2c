"""The file that the reader chose: opening, queries, and notices on missing statistics."""

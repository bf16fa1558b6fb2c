"""Shards into one DuckDB file: build, laws, checks and show."""

"""From shards to one DuckDB file: built, checked against its laws, shown."""

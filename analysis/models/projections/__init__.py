"""Steps of queries, keys, values and outputs of attention besides matrices."""

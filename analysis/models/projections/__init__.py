"""What queries, keys, values and outputs of attention go through besides matrices."""

"""From a request to shards: the plan of what has to be computed, and who carries it out."""

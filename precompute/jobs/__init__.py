"""Jobs of a run, from a request to shards: the plan, the runners and the shards on disk."""

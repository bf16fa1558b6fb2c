"""Choice of a run's statistics, and what the run will cost before it begins."""

"""Page with the definition and the source of every statistic."""

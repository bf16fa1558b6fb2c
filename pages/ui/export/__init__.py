"""Charts and tables as files for a paper."""

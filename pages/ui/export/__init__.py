"""Export of charts and tables as files for a paper."""

"""Processes for work that could end or block the server, bounded in time and memory."""

"""Processes of our own for what could end or hold up the server: bounded in time and memory."""

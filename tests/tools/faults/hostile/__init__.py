"""Gifts of strangers to readers: inputs, files, addresses, charts and sockets."""

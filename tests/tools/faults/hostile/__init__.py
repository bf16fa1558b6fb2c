"""What anybody may give to readers: inputs, files, addresses, charts and sockets."""

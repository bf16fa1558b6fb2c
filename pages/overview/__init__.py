"""What is in the file, what it says at a glance, and whether it can be trusted."""

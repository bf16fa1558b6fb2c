"""Numbers as papers printed them, by subject: data and their sources, nothing computed."""

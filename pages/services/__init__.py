"""Files of statistics, SQL, live models, and what the server answers."""

"""Where the dashboard is served, and what its server refuses."""

"""How everything is measured, and where it comes from."""

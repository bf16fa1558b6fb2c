"""How far stored numbers are from exact ones, and intervals from what they promise."""

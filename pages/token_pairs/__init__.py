"""Page on token pairs: its data in `page`, what is custom in the other modules."""

"""Page that compares files: its data in `page`, the files and their numbers, custom charts."""

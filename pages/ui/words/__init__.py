"""What is said, in English and Japanese: the catalogue, numbers, names of scopes."""

"""Words in English and Japanese: the catalogue, numbers, names of scopes."""

"""Words of the pages in English and Japanese, and names and formats of columns."""

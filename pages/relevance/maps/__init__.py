"""Maps of relevance, from the file or just made, and how they are drawn over images and texts."""

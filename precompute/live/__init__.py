"""One sequence or one image, run while a reader of a page waits."""

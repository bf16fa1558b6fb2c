"""Size limits of images and texts that a reader uploads to a page."""

UPLOAD_BYTES = 20 * 2**20
SESSION_UPLOADS = 3 * UPLOAD_BYTES
SERVER_UPLOADS = 15 * UPLOAD_BYTES
"""Size limit of all uploads together that the server holds at once."""
UPLOAD_PIXELS = 25_000_000
MAX_CHARACTERS = 20_000
"""Length limit of a text before tokenization."""

"""How large an image or a text may be that a reader gives to a page."""

UPLOAD_BYTES = 20 * 2**20
SESSION_UPLOADS = 3 * UPLOAD_BYTES
SERVER_UPLOADS = 15 * UPLOAD_BYTES
"""Of all uploads that are held at once."""
UPLOAD_PIXELS = 25_000_000
MAX_CHARACTERS = 20_000
"""Of a text, before it is cut into tokens."""

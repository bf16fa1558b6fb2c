"""How large an image may be that a reader gives to a page."""

UPLOAD_BYTES = 20 * 2**20
UPLOAD_PIXELS = 25_000_000

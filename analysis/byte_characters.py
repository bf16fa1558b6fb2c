"""The byte-to-character table of byte-level tokenizers."""


def _byte_characters() -> dict[str, int]:
    """Map printable bytes to themselves and all others to successive characters from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    shifted = {chr(0x100 + place): byte for place, byte in enumerate(others)}
    return {chr(byte): byte for byte in printable} | shifted


BYTES = _byte_characters()
"""The byte behind each character."""

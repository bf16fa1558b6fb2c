"""How relative positions are written."""


def offset_label(offset: float) -> str:
    """An offset with its sign, a true minus among them."""
    return f"{int(offset):+d}".replace("-", "−") if offset else "0"

"""Format of relative positions."""


def offset_label(offset: float) -> str:
    """Format an offset with its sign; negative ones with a true minus."""
    return f"{int(offset):+d}".replace("-", "−") if offset else "0"

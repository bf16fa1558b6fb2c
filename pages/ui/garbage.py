"""What is loaded for good is kept out of the way of the garbage collector."""

import gc
import sys
from functools import cache


def spare_modules() -> None:
    """Have the collector pass over what is there now, if modules were loaded since the last call.

    Streamlit collects garbage after every run of a page. Modules are most of what there is to look
    through and are never garbage: with them, each time stops all sessions for a third of a second.
    """
    _spare(len(sys.modules))


@cache
def _spare(_n_modules: int) -> None:
    gc.freeze()

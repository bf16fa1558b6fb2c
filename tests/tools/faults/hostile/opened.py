"""Pages opened without a browser on files of small models, with checks of every page."""

import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.kit.openings import Opener
from tests.shared_store import brief_parsers
from tests.small_store import build_store
from tests.tools.faults.process import PATIENCE, Wrong

FAMILIES: dict[str, dict[str, Any]] = {
    "bert": {"annotated": True},
    "llama": {"statistics": ["token_type_mixing", "head_pattern", "position_kernel", "sink"]},
    "vit": {},
}
"""The models whose files are opened, each with what is asked of its run."""
os.environ["STREAMLIT_CLIENT_SHOW_ERROR_DETAILS"] = "full"  # of what may not be
SCRIPT = "<script>alert(1)</script>"


@dataclass(frozen=True)
class Pages:
    """A dashboard whose files are made below `folder` when the first page is opened."""

    folder: Path

    @cached_property
    def statistics(self) -> Path:
        """The folder of the files, tiny-FAMILY.duckdb."""
        shown = self.folder / "statistics"
        shown.mkdir()
        with brief_parsers(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            for family, chosen in FAMILIES.items():
                place = self.folder / family
                place.mkdir()
                build_store(place, family, output=shown / f"tiny-{family}.duckdb", **chosen)
        return shown

    def open(self, page: str, folder: Path | None = None, **address: Any) -> AppTest:
        """A page on the files of a folder, those of `statistics` unless told.

        Raises:
            Wrong: it shows a traceback or a script, or does not end.
        """
        opener = Opener(pytest.MonkeyPatch(), {}, {}, patience=PATIENCE)
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                session = opener(page, folder or self.statistics, **address)
        except RuntimeError as error:
            raise Wrong(f"{page} with {address}: {error}") from error
        _assert_sound(session, f"{page} with {address}")
        return session


def _assert_sound(session: AppTest, page: str) -> None:
    if session.exception:
        error = session.exception[0]
        raise Wrong(f"{page}: {error.value}\n{''.join(error.stack_trace)[-1500:]}")
    bodies = [block.proto.body for block in session.get("html")]
    bodies += [text.value for text in session.markdown if text.allow_html]
    if any(SCRIPT in body for body in bodies):
        raise Wrong(f"{page}: a script stands in the page")

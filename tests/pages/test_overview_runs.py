"""What the overview says of the run that made the file, or still makes it."""

import json
import os
import socket
from dataclasses import asdict

from pages.ui.store.note import Note


def test_a_run_that_was_to_stop_by_itself_says_where_it_did(opened, changed):
    folder = changed(
        "update stored.provenance set value = '0.02' where name = 'until'",
        "insert into stored.provenance values ('widest_interval', '0.0183 (head_pattern)')",
    )
    (line,) = [
        caption.value for caption in opened("overview", folder).caption if "0.02" in caption.value
    ]
    assert line.endswith("It read 3 sequences; the widest interval is 0.0183 (head_pattern).")
    assert not any(
        "was to stop" in caption.value
        for caption in opened("overview", changed("checkpoint")).caption
    )


def test_what_a_run_still_adds_is_said_until_it_ends(opened, changed):
    folder = changed("checkpoint")
    path = folder / ".tiny.duckdb.computing.1.unfinished"
    for n_done, expected in (
        (1, "1 of 3 sequences done, 9 statistics"),
        (3, "all 3 sequences are"),
    ):
        note = Note(n_done, 3, 9, socket.gethostname(), os.getpid())
        path.write_text(json.dumps(asdict(note)))
        assert any(expected in caption.value for caption in opened("overview", folder).caption)
    path.unlink()
    assert not any(
        "run is adding" in caption.value for caption in opened("overview", folder).caption
    )

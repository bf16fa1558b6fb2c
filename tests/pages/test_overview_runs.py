"""Statements of the overview on the run that made the file, or is making it."""

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


def test_what_could_not_be_used_of_the_corpus_is_said(opened, changed):
    folder = changed(
        "delete from stored.provenance where name like '%_left_out'",
        "insert into stored.provenance values ('corpus blank_rows_left_out', '1234'), "
        "('corpus malformed_rows_left_out', '1'), ('corpus padding_tokens_left_out', '0'), "
        "('corpus images_left_out', '2'), ('corpus masks_left_out', 'many')",
    )
    for language, expected in (
        (
            "en",
            "Left out of the corpus, since it could not be used: images (2), rows without text "
            "(1,234), malformed rows (1), such as sentences that are no tree.",
        ),
        (
            "ja",
            "コーパスのうち使用できず除外したもの：画像（2 枚）、テキストのない行（1,234 件）、"
            "形式に誤りのある行（1 件。木にならない文など）。",
        ),
    ):
        captions = [c.value for c in opened("overview", folder, lang=language).caption]
        assert expected in captions
    whole = changed("checkpoint")
    assert not any("Left out" in caption.value for caption in opened("overview", whole).caption)


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

"""Files without relevance: the reason is told where no run could add it."""

import pytest

from tests.tiny import HEADS, LAYERS

_FULL = 2**27 // (LAYERS * HEADS)
"""Square of the largest number of tokens of a sequence with relevance."""
_TABLES = ("relevance_map", "relevance_summary", "sequence_relevance")


@pytest.mark.parametrize("view", ["text", "methods", "corpus"])
def test_texts_that_are_all_too_long_are_told_as_the_reason(view, section, changed):
    emptied = [
        change
        for table in _TABLES
        for change in (
            f"delete from stored.{table}",
            f"update stored.manifest set n_rows = 0 where name = '{table}'",
        )
    ]
    most = int(_FULL**0.5)
    long = changed(*emptied, f"update stored.sequence set n_tokens = {most + 1} + seq")
    (notice,) = section(view, long).info
    assert f"may have 512 MiB: {most:,} tokens in this model" in notice.value
    assert f"the shortest {most + 1:,} tokens" in notice.value
    other = changed(*emptied, f"update stored.sequence set n_tokens = {most} + seq")
    session = section(view, other)
    assert "does not hold what this page shows" in session.info[0].value
    assert "--statistics" in session.code[0].value

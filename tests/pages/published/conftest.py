"""Files that claim a given run, and queries on the real one."""

import pytest

from analysis.published.numbers import MODEL, N_SEQUENCES, N_TOKENS

SAME = {
    "model": MODEL,
    "n_layers": 12,
    "n_heads": 12,
    "hidden_size": 768,
    "n_sequences": N_SEQUENCES,
    "n_tokens": N_TOKENS,
    "mask_rate": 0.0,
}


@pytest.fixture
def file_of(changed):
    """Folder whose only file claims such a run."""

    def make(*statements: str, **run: object):
        return changed(*of_run(**run), *statements)

    return make


def of_run(**run: object) -> list[str]:
    """Statements that make a file claim the papers' run, except for the given values."""
    return [f"update stored.run set {name} = '{value}'" for name, value in (SAME | run).items()]

"""Files that say of which run they are, and what the real one answers."""

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
    """A folder whose one file says that it is of such a run."""

    def make(*statements: str, **run: object):
        return changed(*of_run(**run), *statements)

    return make


def of_run(**run: object) -> list[str]:
    """After these statements a file says that it is of the papers' run, but for what is given."""
    return [f"update stored.run set {name} = '{value}'" for name, value in (SAME | run).items()]

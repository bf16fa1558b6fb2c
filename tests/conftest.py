"""Every test that asks for `family` runs once per family in `tests.tiny.TINY`."""

import pytest

from analysis.models.trace import Trace
from precompute.corpora.sequence import Sequence
from precompute.loaded_model import LoadedModel
from tests.tiny import ANNOTATED, TINY, tiny_model, tiny_sequences


@pytest.fixture(scope="session", params=TINY)
def family(request) -> str:
    return request.param


@pytest.fixture(scope="session")
def tiny(family) -> LoadedModel:
    return tiny_model(family)


@pytest.fixture(scope="session")
def sequences(family) -> tuple[Sequence, ...]:
    return tiny_sequences(family)


@pytest.fixture(scope="session")
def traced(tiny, sequences) -> Trace:
    """The family's sequences in one padded batch. Shared by the whole session: do not change it."""
    return tiny.trace(sequences)


@pytest.fixture(scope="session")
def traced_alone(tiny, sequences) -> list[Trace]:
    """The same sequences, each traced by itself and so without padding."""
    return [tiny.trace([each]) for each in sequences]


@pytest.fixture(scope="session")
def annotated(family) -> tuple[Sequence, ...]:
    """Two texts with trees, the second of two sentences and with mentions."""
    return tiny_sequences(family, ANNOTATED)

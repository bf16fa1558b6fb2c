"""Tiny models and what tests share of them, for the processes that run tests.

Every test that asks for `family` runs once per family.

Tests of models run on all of `tests.tiny.FAMILIES`, but for those that need a tokenizer and say so:
`@text_families`. All other tests run on `tests.tiny.TEXT_FAMILIES`, since most of them run whole
stores of texts, and those of tables on two of these, since every kind of tokenizer is in
`tests.outermost`; those for which an image will do say so: `@every_family`, and run on one family
more if they are of passes.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from precompute.corpora.sequence import Sequence
from precompute.models.loaded_model import LoadedModel
from precompute.store import build
from tests.shared_store import without_shape_checks
from tests.tiny import (
    ANNOTATED,
    BOTH_WAYS,
    FAMILIES,
    OF_DECODERS,
    OF_IMAGES,
    TEXT_FAMILIES,
    every_family,
    text_families,
    tiny_model,
    tiny_sequences,
)
from tests.tiny_vision import softmax_error
from tests.tracing import Trace, trace_of

ROOT = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    for mark in (every_family, text_families):
        config.addinivalue_line("markers", f"{mark.name}: which families a test runs on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests that are not for the inner loop."""
    if config.getoption("fast"):
        left_out = [test for test in items if _is_slow(test)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [test for test in items if not _is_slow(test)]


def _is_slow(test: pytest.Item) -> bool:
    values = getattr(getattr(test, "callspec", None), "params", {})
    in_japanese = values.get("lang") == "ja"
    of_another_family = values.get("family", FAMILIES[0]) != FAMILIES[0]
    marked = any(test.get_closest_marker(mark) for mark in ("browser", "slow"))
    return in_japanese or of_another_family or marked


@pytest.fixture(scope="session", autouse=True)
def comment_on() -> Iterator[Callable[..., None]]:
    """Write the comments of a file, which others lack: they take half the time of a small build."""
    written = build.comment_on
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(build, "comment_on", lambda *_: None)
        yield written


@pytest.fixture(scope="session", autouse=True)
def _files_are_not_flushed() -> Iterator[None]:
    """Leave files to the system, which need not outlive it: a tenth of the time of a small run."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: None)
        yield


CHECKED = ROOT / "analysis", ROOT / "statistics"
"""Tests of what takes and makes tensors."""


@pytest.fixture(scope="module", autouse=True)
def _shapes_are_checked_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check shapes only in these tests: other ones run whole files, of which it takes a quarter."""
    is_checked = any(request.path.is_relative_to(folder) for folder in CHECKED)
    with nullcontext() if is_checked else without_shape_checks():
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize tests by family unless they choose families themselves."""
    test = metafunc.definition
    is_given = any("family" in mark.args[0] for mark in test.iter_markers("parametrize"))
    if "family" in metafunc.fixturenames and not is_given:
        metafunc.parametrize("family", _families(test), indirect=True, scope="session")


def _families(test: pytest.Item) -> tuple[str, ...]:
    if test.config.getoption("fast"):
        return FAMILIES[:1]
    of_measures = test.path.is_relative_to(ROOT / "analysis")
    of_passes = test.path.is_relative_to(ROOT / "precompute" / "passes")
    of_tables = of_passes or test.path.is_relative_to(ROOT / "statistics")
    of_texts = (BOTH_WAYS if of_tables else TEXT_FAMILIES) + OF_DECODERS * of_measures
    on_every_family = test.get_closest_marker(every_family.name) or of_measures
    if on_every_family and not test.get_closest_marker(text_families.name):
        return (*of_texts, *OF_IMAGES[: 1 if of_passes else None])
    return of_texts


@pytest.fixture(scope="session")
def family(request) -> str:
    return request.param


@pytest.fixture(scope="session")
def tiny(family) -> LoadedModel:
    return tiny_model(family)


@pytest.fixture(scope="session")
def sequences(family) -> tuple[Sequence, ...]:
    return tiny_sequences(family)


@pytest.fixture(scope="session")
def attention_error(family) -> float:
    """Largest error of the family's tiny model's attention against float64."""
    return softmax_error(family)


@pytest.fixture(scope="session")
def traced(tiny, sequences) -> Trace:
    """The family's sequences in one padded batch. Shared by the whole session: do not change it."""
    return trace_of(tiny, sequences)


@pytest.fixture(scope="session")
def traced_alone(tiny, sequences) -> list[Trace]:
    """The same sequences, each traced by itself and so without padding."""
    return [trace_of(tiny, [sequence]) for sequence in sequences]


@pytest.fixture(scope="session")
def annotated(family) -> tuple[Sequence, ...]:
    """Two texts with trees, the second of two sentences and with mentions."""
    return tiny_sequences(family, ANNOTATED)

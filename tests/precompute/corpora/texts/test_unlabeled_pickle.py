import io
import pickle
import pickletools
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadCorpus
from precompute.corpora.sequence import Entry
from precompute.corpora.texts.rows import TEXT, entry_of
from precompute.corpora.texts.unlabeled_pickle import ARRAY_NAMES, pickle_rows
from tests.precompute.corpora.tiny import unhurried
from tests.refusals import refused

RECORDS = [
    {"tokens": ["[CLS]", "the", "café", "[SEP]"], "attns": np.ones((2, 2, 4, 4), np.float16)},
    {"tokens": ["[CLS]", "[SEP]"], "attns": np.zeros((2, 2, 2, 2), np.float16)},
]
EXPECTED = [
    Entry("attn.pkl entry 1", tokens=("[CLS]", "the", "café", "[SEP]")),
    Entry("attn.pkl entry 2", tokens=("[CLS]", "[SEP]")),
]
REMEDY = "download it again, or give the corpus as JSON Lines"
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


def read(folder, content):
    path = folder / "attn.pkl"
    path.write_bytes(content)
    return [entry_of(value, place) for place, value in pickle_rows(path, TEXT)]


def refusal(folder, content):
    return refused(BadCorpus, read, folder, content)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_only_tokens_are_kept_whatever_the_protocol(tmp_path, protocol):
    assert read(tmp_path, pickle.dumps(RECORDS, protocol)) == EXPECTED


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "attention",
    [
        np.zeros((0, 3)),
        np.asfortranarray(np.ones((3, 2))),
        np.ones((4, 4))[::2],
        np.float16(0.5),
        [np.arange(3), np.float64(1)],
        np.array([{"a": [1]}, None], dtype=object),
        np.array(["a"]),
        None,
    ],
    ids=repr,
)
def test_whatever_stands_for_attention_is_passed_over(tmp_path, protocol, attention):
    records = [{**record, "attns": attention} for record in RECORDS]
    assert read(tmp_path, pickle.dumps(records, protocol)) == EXPECTED


def test_names_of_older_numpy_are_known(tmp_path):
    """Protocol 0 spells names out, so that they can be put back to what NumPy 1 called them."""
    content = pickle.dumps(RECORDS, 0)
    assert b"numpy._core" in content
    assert read(tmp_path, content.replace(b"numpy._core", b"numpy.core")) == EXPECTED


@pytest.mark.parametrize("protocol", [PROTOCOLS[0], PROTOCOLS[-1]])
def test_cut_short_anywhere_the_pickle_is_refused(tmp_path, protocol):
    content = pickle.dumps(RECORDS[1:], protocol)
    for end in range(len(content)):
        assert refusal(tmp_path, content[:end]).startswith("attn.pkl: is a damaged pickle ('")
    assert read(tmp_path, content)


@unhurried(300)
@given(data=st.data(), protocol=st.sampled_from(PROTOCOLS))
def test_damaged_anywhere_the_pickle_is_read_or_refused(tmp_path_factory, data, protocol):
    content = bytearray(pickle.dumps(RECORDS[1:], protocol))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(BadCorpus):
        read(tmp_path_factory.mktemp("damaged"), bytes(content))


@pytest.mark.parametrize("protocol", [4, 5])
def test_attention_is_passed_over_as_it_is_read(tmp_path, protocol):
    """Hundreds of large arrays cost no more memory than the tokens beside them."""
    attention = np.ones((2, 2, 128, 128))
    path = tmp_path / "attn.pkl"
    records = [{"tokens": ["a"], "attns": attention.copy()} for _ in range(50)]
    path.write_bytes(pickle.dumps(records, protocol))
    assert path.stat().st_size > 20e6
    tracemalloc.start()
    assert len(list(pickle_rows(path, TEXT))) == 50
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


def test_second_pickle_in_the_file_is_not_lost_in_silence(tmp_path):
    content = pickle.dumps(RECORDS)
    assert refusal(tmp_path, content + content) == (
        f"attn.pkl: goes on after the end of its pickle; {REMEDY}"
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"tokens": []}, "attn.pkl: holds {'tokens': []}; it must be a pickled list of dicts"),
        ([["a"]], "attn.pkl entry 1: is ['a']; it must be a dict with `tokens`"),
        ([{"token": []}], "attn.pkl entry 1: is {'token': []}; it must be a dict with `tokens`"),
        (
            [*RECORDS, {"tokens": "ab"}],
            "attn.pkl entry 3: `tokens` is 'ab'; it must be a list of strings",
        ),
        ([{"tokens": []}], "attn.pkl entry 1: `tokens` is empty; it must hold at least one token"),
        (
            [{"tokens": ["a", None]}],
            "attn.pkl entry 1: token 2 is None; each token must be a string, not empty",
        ),
    ],
)
def test_pickle_of_another_form_is_refused(tmp_path, value, message):
    assert refusal(tmp_path, pickle.dumps(value)) == message


def test_every_name_that_numpy_writes_is_among_the_known():
    """A new version of NumPy that pickles otherwise shows here and not at a user's."""
    written = set()
    for protocol in (0, 1, 2, 3):
        content = pickle.dumps([RECORDS, np.float16(1)], protocol)
        for opcode, argument, _ in pickletools.genops(io.BytesIO(content)):
            written |= {tuple(str(argument).split())} if opcode.name == "GLOBAL" else set()
    assert written <= ARRAY_NAMES
    assert len(written) >= 4, "this test saw no names"


def test_file_written_by_python_2_is_read(tmp_path):
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
        b"(I1\n(I1\ntcnumpy\ndtype\n(S'f2'\nI0\nI1\ntRI00\nS'\\x00\\xe9'\ntb"
    )
    content = b"(lp1\n(dp2\nS'tokens'\n(lp3\nV[CLS]\naVcaf\\u00e9\nasS'attns'\n" + array + b"sa."
    assert read(tmp_path, content) == [Entry("attn.pkl entry 1", tokens=("[CLS]", "café"))]

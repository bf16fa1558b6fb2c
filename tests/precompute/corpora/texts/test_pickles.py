"""Of a pickle the tokens alone are read, whatever stands beside them; no code in it is ever run."""

import copyreg
import os
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from precompute.corpora.texts.rows import TEXT
from precompute.corpora.texts.unlabeled_pickle import _Forgotten, pickle_rows
from tests.precompute.corpora.reading import assert_outcome, outcome, written
from tests.precompute.corpora.tiny import unhurried

RECORDS = [
    {"tokens": ["[CLS]", "the", "café", "[SEP]"], "attns": np.ones((2, 2, 4, 4), np.float16)},
    {"tokens": ["[CLS]", "[SEP]"], "attns": np.zeros((2, 2, 2, 2), np.float16)},
]
EXPECTED = {"entry 1": RECORDS[0]["tokens"], "entry 2": RECORDS[1]["tokens"]}
PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
ATTENTION = {
    "an array": np.ones((2, 2)),
    "columns first": np.asfortranarray(np.ones((3, 2))),
    "a list": [np.arange(3), np.float64(1)],
    "objects": np.array([{"a": [1]}, None], dtype=object),
    "nothing": None,
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", ATTENTION)
def test_whatever_stands_for_attention_is_passed_over(tmp_path, protocol, kind):
    """A new version of NumPy that writes other names shows here and not at a user's."""
    records = [{**record, "attns": ATTENTION[kind]} for record in RECORDS]
    assert_outcome(EXPECTED, written(tmp_path, pickle.dumps(records, protocol)))


PYTHON_2 = (
    b"(lp1\n(dp2\nS'tokens'\n(lp3\nV[CLS]\naVcaf\\u00e9\nasS'attns'\n"
    b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
    b"(I1\n(I1\ntcnumpy\ndtype\n(S'f2'\nI0\nI1\ntRI00\nS'\\x00\\xe9'\ntb"
    b"sa."
)
NUMPY_1 = pickle.dumps(RECORDS, 0).replace(b"numpy._core", b"numpy.core")
NO_LIST = "it must be a pickled list of dicts"
NO_TOKENS = "it must be a dict with `tokens`"
FORMS = {
    "of Python 2": (PYTHON_2, {"entry 1": ["[CLS]", "café"]}),
    "of NumPy 1": (NUMPY_1, EXPECTED),
    "twice": (
        pickle.dumps(RECORDS) * 2,
        "f: goes on after the end of its pickle; download it again, or give the corpus as JSON "
        "Lines",
    ),
    "no list": (pickle.dumps({"tokens": []}), f"f: holds {{'tokens': []}}; {NO_LIST}"),
    "other keys": (pickle.dumps([{"token": []}]), f"f entry 1: is {{'token': []}}; {NO_TOKENS}"),
    "one text": (
        pickle.dumps([{"tokens": "ab"}]),
        "f entry 1: `tokens` is 'ab'; it must be a list of strings",
    ),
    "no string": (
        pickle.dumps([{"tokens": ["a", None]}]),
        "f entry 1: token 2 is None; each token must be a string, not empty",
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_read_or_refused(tmp_path, form):
    content, expected = FORMS[form]
    assert_outcome(expected, written(tmp_path, content))


@pytest.mark.parametrize("protocol", [PROTOCOLS[0], PROTOCOLS[-1]])
def test_cut_short_anywhere_the_pickle_is_refused(tmp_path, protocol):
    content = pickle.dumps(RECORDS[1:], protocol)
    for end in range(6, len(content)):
        assert str(outcome(written(tmp_path, content[:end]))).startswith(
            "f: is a damaged pickle ('"
        )
    assert_outcome({"entry 1": RECORDS[1]["tokens"]}, written(tmp_path, content))


@unhurried(300)
@given(data=st.data(), protocol=st.sampled_from(PROTOCOLS))
def test_damaged_anywhere_the_pickle_is_read_or_refused(tmp_path_factory, data, protocol):
    content = bytearray(pickle.dumps(RECORDS[1:], protocol))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(2, len(content) - 1))] = data.draw(st.integers(0, 255))
    outcome(written(tmp_path_factory.mktemp("damaged"), bytes(content)))  # no other error


@pytest.mark.parametrize("protocol", [4, 5])
def test_attention_is_passed_over_as_it_is_read(tmp_path, protocol):
    """A dozen large arrays cost no more memory than the tokens beside them."""
    attention = np.ones((2, 2, 256, 256))
    path = tmp_path / "f"
    records = [{"tokens": ["a"], "attns": attention.copy()} for _ in range(12)]
    path.write_bytes(pickle.dumps(records, protocol))
    assert path.stat().st_size > 20e6
    tracemalloc.start()
    assert len(list(pickle_rows(path, TEXT))) == 12
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


class Payload:
    """Unpickled by anything but the reader, it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"echo run > {self.path}",)


def asks_for(name: str) -> str:
    return (
        f"f: asks for {name!r}, which no list of tokens needs and which could run code; nothing of "
        "it was run; do not trust this file"
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_that_would_run_code_is_refused_and_runs_none(tmp_path, protocol):
    trace, inside = tmp_path / "trace", np.empty(1, dtype=object)
    inside[0] = Payload(trace)
    for attention in (inside, inside[0]):
        content = pickle.dumps([{"tokens": ["a"], "attns": attention}], protocol)
        assert outcome(written(tmp_path, content)) == asks_for(f"{os.name}.system")
        assert not trace.exists()
    pickle.loads(content)
    assert trace.exists(), "this test could not have failed"


NAMES = """
builtins eval, builtins getattr, __builtin__ apply, numpy load, numpy ndarray.tofile,
numpy.core.multiarray fromfile, _codecs decode, copyreg _reconstructor,
precompute.corpora.texts.unlabeled_pickle _unpickled
"""


@pytest.mark.parametrize("name", [name.strip() for name in NAMES.split(",")])
def test_every_other_name_is_refused(tmp_path, name):
    module, attribute = name.encode().split()
    lengths = len(module), module, len(attribute), attribute
    stack_global = b"\x80\x04\x8c%c%b\x8c%c%b\x93." % lengths
    for content in (b"\x80\x02c%b\n%b\n." % (module, attribute), stack_global):
        assert outcome(written(tmp_path, content)) == asks_for(name.replace(" ", "."))


HUGE = (2**62).to_bytes(8, "little")
HARMFUL = {
    "endless bytes": b"\x80\x04\x8e" + HUGE,
    "an endless array of bytes": b"\x80\x05\x96" + HUGE,
    "an endless text": b"\x80\x04\x8d" + HUGE,
    "an endless memo": b"\x80\x02]r\xff\xff\xff\xff",
    "an endless frame": b"\x80\x04\x95" + (2**40).to_bytes(8, "little"),
    "a name by number": b"\x80\x02\x82\xf0)R.",
    "an attribute of a stub": b"\x80\x02cnumpy\nndarray\n}X\x01\x00\x00\x00xK\x01sb.",
}


@pytest.mark.parametrize("kind", HARMFUL)
def test_what_would_take_memory_or_change_the_reader_is_a_damaged_pickle(tmp_path, kind):
    copyreg.add_extension("os", "getcwd", 0xF0)  # a name that is then found without being named
    try:
        assert "f: is a damaged pickle (" in str(outcome(written(tmp_path, HARMFUL[kind])))
    finally:
        copyreg.remove_extension("os", "getcwd", 0xF0)
        copyreg.clear_extension_cache()
    assert not hasattr(_Forgotten, "x")

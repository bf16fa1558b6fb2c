"""A pickle may be written to do harm; reading one as a corpus must do none."""

import copyreg
import os
import pickle

import numpy as np
import pytest

from precompute.corpora.texts.unlabeled_pickle import _Forgotten
from tests.precompute.corpora.texts.test_unlabeled_pickle import PROTOCOLS, refusal


class Payload:
    """Unpickled by anything but the reader, it writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"echo run > {self.path}",)


def hidden_in_objects(payload):
    array = np.empty(1, dtype=object)
    array[0] = payload
    return array


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("wrapped", [lambda payload: payload, hidden_in_objects])
def test_pickle_that_would_run_code_is_refused_and_runs_none(tmp_path, protocol, wrapped):
    trace = tmp_path / "trace"
    content = pickle.dumps([{"tokens": ["a"], "attns": wrapped(Payload(trace))}], protocol)
    assert refusal(tmp_path, content) == (
        f"attn.pkl: asks for '{os.name}.system', which no list of tokens needs and which could run "
        "code; nothing of it was run; do not trust this file"
    )
    assert not trace.exists()
    pickle.loads(content)
    assert trace.exists(), "this test could not have failed"


@pytest.mark.parametrize(
    "name",
    [
        "builtins eval",
        "builtins getattr",
        "__builtin__ apply",
        "numpy.core.multiarray fromfile",
        "numpy ndarray.tofile",
        "numpy load",
        "_codecs decode",
        "copyreg _reconstructor",
        "precompute.corpora.texts.unlabeled_pickle _unpickled",
    ],
)
def test_every_other_name_is_refused(tmp_path, name):
    module, attribute = name.encode().split()
    stack_global = b"\x80\x04\x8c%c%b\x8c%c%b\x93." % (
        len(module),
        module,
        len(attribute),
        attribute,
    )
    for content in (b"c%b\n%b\n." % (module, attribute), stack_global):
        assert refusal(tmp_path, content).startswith(
            f"attn.pkl: asks for '{name.replace(' ', '.')}', which"
        )


def test_name_of_a_hostile_pickle_cannot_break_the_message(tmp_path):
    message = refusal(tmp_path, b"\x80\x04\x8c\x05\x1b[31m\x8c\x80" + b"x" * 128 + b"\x93.")
    assert message.startswith(r"attn.pkl: asks for '\x1b[31m.xxx")
    assert message.isprintable()
    assert len(message) < 250


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x04\x8e" + (2**62).to_bytes(8, "little"),
        b"\x80\x05\x96" + (2**62).to_bytes(8, "little"),
        b"\x80\x04\x8d" + (2**62).to_bytes(8, "little"),
        b"\x80\x02]r\xff\xff\xff\xff",
        b"\x80\x04\x95" + (2**40).to_bytes(8, "little"),
    ],
    ids=["bytes", "bytearray", "text", "memo", "frame"],
)
def test_pickle_that_asks_for_endless_memory_is_refused(tmp_path, content):
    assert "is a damaged pickle" in refusal(tmp_path, content)


def test_names_that_python_keeps_by_number_are_refused(tmp_path):
    """A name registered with `copyreg` and used once is found without being asked for by name."""
    by_number = b"\x80\x02\x82\xf0)R."
    copyreg.add_extension("os", "getcwd", 0xF0)
    try:
        assert pickle.loads(by_number) == os.getcwd()
        assert "is a damaged pickle ('130')" in refusal(tmp_path, by_number)
    finally:
        copyreg.remove_extension("os", "getcwd", 0xF0)
        copyreg.clear_extension_cache()


def test_stubs_cannot_be_changed_by_what_they_read(tmp_path):
    """BUILD on a name that stands for a class must not set the class's attributes."""
    content = b"\x80\x02cnumpy\nndarray\n}X\x01\x00\x00\x00xK\x01sb."
    assert "is a damaged pickle" in refusal(tmp_path, content)
    assert not hasattr(_Forgotten, "x")

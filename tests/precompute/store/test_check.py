"""Damaged files are distinguished from sound ones, with a description of the fault."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from analysis.errors import UserError
from analysis.statistics import SCHEMA_VERSION
from precompute.store.check import faults
from precompute.store.show import lines
from tests.precompute.store.held_open import held_open
from tests.refusals import refused
from tests.shared_store import shared_store
from tests.small_store import manifest_of
from tests.tiny import BOTH_WAYS


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> dict[str, Path]:
    """Whole files by family."""
    return {family: shared_store(tmp_path_factory, family) for family in BOTH_WAYS}


@pytest.fixture
def copied(whole, tmp_path) -> Callable[[str], Path]:
    """A copy of a family's whole file, to be changed."""
    return lambda family: Path(shutil.copy(whole[family], tmp_path / "copy.duckdb"))


@pytest.fixture
def store(copied) -> Path:
    return copied("bert")


def _found(path: Path) -> list[str]:
    return list(faults(path))


def _change(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def _accepted(path: Path, *statements: str) -> None:
    """Changes that the manifest agrees with, so that only the deeper checks can notice."""
    _change(path, *statements)
    _change(path, *map(manifest_of, set(re.findall(r"stored\.(\w+)", " ".join(statements)))))


@pytest.mark.parametrize("family", BOTH_WAYS)
def test_a_sound_file_has_no_faults(copied, family):
    assert _found(copied(family)) == []


def test_a_file_of_something_else_is_told_even_if_its_name_speaks_of_a_lock(tmp_path):
    path = tmp_path / "block.duckdb"
    assert _found(path) == [f"{path}: there is no such file."]
    path.write_text("once upon a time " * 1000)
    (fault,) = _found(path)
    assert fault.startswith(f"{path} is damaged or no file of Mixscope: ")
    assert fault.endswith(" Build it again.")


def test_a_file_that_another_process_writes_to_is_locked_and_not_damaged(store):
    with held_open(store) as writer:
        (fault,) = _found(store)
        assert fault == refused(UserError, lambda: list(lines(store)))
    assert fault.startswith(f"{store} is locked by a program that is writing to it. Wait until ")
    assert f"(PID {writer})" in fault
    assert _found(store) == []


def test_a_flipped_byte_anywhere_in_the_data_is_told(store):
    """Every block that holds data carries a checksum; headers and free space need not be read."""
    whole = store.read_bytes()
    noticed = 0
    for place in range(20_000, len(whole) - 4096, len(whole) // 6):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        store.write_bytes(damaged)
        noticed += bool(_found(store))
    assert noticed >= 5


BEHIND = {
    "delete from stored.token_norm where layer = 1 and pos = 0": "Its table token_norm is not what "
    "it was when the file was built. Build it",
    "update stored.singular_value set value = value + 1 where rank = 1 and head = 1": "singular_"
    "value: ",
    f"update stored.run set schema_version = {SCHEMA_VERSION + 1}": "schema version "
    f"{SCHEMA_VERSION + 1}; this version of Mixscope reads {SCHEMA_VERSION}. Build the file again "
    "with this version.",
}
"""Changes that the manifest does not agree with, and what is said of them."""
ADDED_UP = {
    "update stored.completeness set relative_error = 0.01 where seq = 1": "Sequence 1, layer 1: "
    "the parts of the attention block at position ",
    "update stored.layer_completeness set relative_error = 'nan' where seq = 2": "Sequence 2, "
    "layer 1: the parts of the whole layer at position ",
    "update stored.provenance set name = 'x' where name = 'model.weights'": "1 group(s) break the "
    "law that the file has all settings of its model",
}
"""Changes that it agrees with."""


@pytest.mark.parametrize("change", BEHIND | ADDED_UP)
def test_a_changed_file_is_told(store, change):
    if change in ADDED_UP:
        _accepted(store, change)
        assert any(ADDED_UP[change] in fault for fault in _found(store))
    else:
        _change(store, change)
        [fault] = _found(store)
        assert BEHIND[change] in fault


CAUSAL = "a causal model has no pair whose key is behind its query"
COMES = "all that has come together in a token comes from some type and some distance"
ORDER = "layers are seen at the scopes and in the steps of their order"
LAWS = [
    (
        "bert",
        {
            "attention received in a sequence adds up to its number of tokens": "head_token set "
            "attention_received = attention_received * 2 where layer = 1 and head = 1 and pos = 0",
            "shares of norms received in a sequence add up to its number of tokens": "head_token "
            "set norm_share_received = 1 + norm_share_received where layer = 1 and head = 2",
            "token types share all norms": "token_type_mixing set mean = mean / 2 "
            "where quantity = 'norm_share' and head = 1",
            "the histogram of every head counts every pair": "attention_norm_histogram "
            "set n = n + 1 where layer = 1 and head = 1",
            "the pairs of every layer occur as often as two tokens stand in one sequence": "pair_"
            "delta set n = n + 1 where layer = 1",
            "relations share all pairs and all change": "relation_share set mean = mean / 2 "
            "where layer = 1 and effect = 'ff'",
            "tokens of all types make up the mixing ratio's tokens": "mixing_ratio set n = n + 1 "
            "where token_type = 'all'",
        },
    ),
    (
        "bert",
        {
            "every head has every token": "head_token set head = 1 "
            "where layer = 2 and head = 2 and seq = 0 and pos = 1",
            COMES: "rollout set mean = mean / 2 where token_type = 'cls' and layer = 2",
        },
    ),
    ("bert", {"the tokens of a sequence number its n_tokens": "token set seq = 2 where seq = 1"}),
    (
        "gpt2",
        {
            CAUSAL: "attention_norm_sample set key_pos = query_pos + 1 where layer = 1",
            ORDER: "provenance set value = 'post_norm' where name = 'layer_order'",
            "the first token of a causal model is of type first, unless it is special or masked": ""
            "token set token_type = 'first' where pos = 1",
        },
    ),
    (
        "gpt2",
        {
            CAUSAL: "pair_occurrence set source_pos = target_pos + 1 where layer = 1",
            ORDER: "pair_delta set mean_ff_ln = 0, std_ff_ln = if(n = 1, null, 0)",
        },
    ),
]
"""Updates of one copy by the laws that they break, which do not meet."""


@pytest.mark.parametrize(("family", "laws"), LAWS)
def test_numbers_that_do_not_agree_with_each_other_or_the_model_are_told(copied, family, laws):
    path = copied(family)
    _accepted(path, *(f"update stored.{change}" for change in laws.values()))
    found = "\n".join(_found(path))
    assert [law for law in laws if f"break the law that {law}." not in found] == []

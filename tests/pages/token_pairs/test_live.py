"""Results of the model run for a reader agree with the file, or are refused with a reason."""

from pathlib import Path
from shutil import copytree

import duckdb
import numpy as np
import pytest
import streamlit as st
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from analysis.scopes import POST_NORM
from pages.services import live_model
from pages.token_pairs.pair import PAGE
from tests.pages.conftest import sentences

EFFECTS = tuple(POST_NORM.effects)  # of the small model, which is built as BERT is
LIVE = {"tp_live": "live"}
NOISE = 2e-6  # of shares in float32

SCRIPT = """
import numpy as np
import streamlit as st
from pages.kit.section import tokens_of
from pages.services import live_model as live
from pages.services.chosen import open_store
from pages.services.inquiry import Inquiry

inquiry = Inquiry(open_store())
changes = {}
for layer in range(1, int(inquiry.store.run["n_layers"]) + 1):
    for effect in %s:
        for seq in range(int(inquiry.store.run["n_sequences"])):
            tokens = tokens_of(inquiry, seq)
            maps = live.effect_maps(inquiry.store, tokens, layer=layer, effect=effect)
            changes[layer, effect, seq] = maps.change
st.session_state["changes"] = changes
"""


@pytest.fixture
def changes(in_session, store_folder) -> dict:
    """Every change of every pair of positions, by layer, effect and sequence, computed live."""
    session = in_session(SCRIPT % list(EFFECTS), store_folder)
    assert not session.exception
    return session.session_state["changes"]


def test_live_changes_are_the_stored_ones(changes, store):
    stored = store.execute("from pair_occurrence").df()
    assert len(stored) > 1000, "this test could not have failed"
    live = [
        changes[row.layer, row.effect, row.seq][row.target_pos, row.source_pos]
        for row in stored.itertuples()
    ]
    np.testing.assert_allclose(live, stored["delta"], atol=NOISE)


def unstored(store) -> tuple[str, str]:
    """A pair whose single changes are not stored in layer 1."""
    return store.execute(
        """
        select source, target from pair_delta where layer = 1 and effect = 'ff' and (source, target)
            not in (
                select s.token, t.token from pair_occurrence as pair
                join vocabulary as s on s.token_id = pair.source
                join vocabulary as t on t.token_id = pair.target
                where layer = 1 and effect = 'ff')
        order by all limit 1
        """
    ).fetchall()[0]


def test_changes_that_are_not_stored_are_computed(section, store):
    source, target = unstored(store)
    chosen = {"tp_source": source, "tp_target": target}
    assert "not stored" in sentences(section("workbench", **chosen))
    text = sentences(section("workbench", **chosen, **LIVE))
    assert "not stored" not in text
    [(n,)] = store.execute(
        "select n from pair_delta where layer = 1 and effect = 'ff' and (source, target) = (?, ?)",
        [source, target],
    ).fetchall()
    assert text.count(" points**") >= min(n, PAGE)


def warned(session: AppTest) -> str:
    """Warning of a section if the model cannot be run; its stored content must be there."""
    assert " points**" in sentences(session)
    (warning,) = session.warning
    return warning.value


def test_a_model_that_is_gone_is_told(section, changed, tmp_path):
    folder = changed(f"update stored.run set model = '{tmp_path / 'model-bert'}'")
    warning = warned(section("workbench", folder, **LIVE))
    assert "cannot be loaded" in warning
    assert "No folder is called" in warning


def test_another_model_under_the_same_name_is_not_taken_for_it(section, store, changed, tmp_path):
    """The warning also appears if a change is not stored and would have to be computed."""
    other = copytree(store_model(store), tmp_path / "model-bert")
    weights = load_file(other / "model.safetensors")
    name = next(iter(weights))
    spoilt = weights | {name: weights[name] + 1}
    save_file(spoilt, other / "model.safetensors", {"format": "pt"})
    folder = changed(f"update stored.run set model = '{other}'")
    source, target = unstored(store)
    session = section("workbench", folder, tp_source=source, tp_target=target, **LIVE)
    (warning,) = session.warning
    assert "not the one that made this file" in warning.value


def store_model(store) -> Path:
    """Path of the model that made the file."""
    ((path,),) = store.execute("select model from run").fetchall()
    return Path(path)


def test_a_dashboard_without_torch_shows_what_is_stored(section, monkeypatch):
    st.cache_data.clear()
    monkeypatch.setattr(live_model, "find_spec", lambda name: None if name == "torch" else name)
    assert "not installed" in warned(section("workbench", **LIVE))


def test_a_causal_model_has_no_pair_the_wrong_way(section, gpt2_folder):
    with duckdb.connect(str(gpt2_folder / "tiny.duckdb"), read_only=True) as store:
        pairs = store.execute("select distinct source, target from pair_delta order by all")
        pairs = pairs.fetchall()
    target, source = next(pair for pair in pairs if pair[::-1] not in pairs)
    session = section("workbench", gpt2_folder, tp_source=source, tp_target=target)
    assert "sees only itself and earlier tokens" in session.info[0].value

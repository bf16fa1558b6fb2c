"""A link restores what was chosen, on every page; what is not there shows the default."""

from importlib import import_module
from itertools import cycle
from urllib.parse import parse_qsl

import pytest

from pages.kit.links import MOVED, RENAMED, VIEWS, current_place
from pages.services.open_file import described, version_of
from tests.pages.conftest import assert_sound, captions, charts, in_address
from tests.pages.kit.section_checks import stems
from tests.tiny_vision import LAYERS

pytestmark = pytest.mark.slow

CHOICES = {
    ("norms", "relation"): {
        "an_scope": "layer",
        "an_layer": 2,
        "an_marks": "sample",
        "an_type": "other",
    },
    ("positions", "content"): {"po_k": 3},
    ("head", "waves"): {
        "head": "2-2",
        "he_direction": 2,
        "he_amplitude": "amplitude",
        "he_frequency": 256,
        "he_reach": 64,
        "he_counting": "per_pair",
    },
    ("positions", "waves"): {
        "po_carrier": "states",
        "po_amount": "mean",
        "po_states_layer": 2,
        "po_source": "hidden",
        "po_shown": "ratio",
    },
    ("relevance", "map"): {
        "re_image": 3,
        "re_rule": "ii",
        "re_layer": 1,
        "re_head": "2",
        "re_under": "plain",
        "re_scale": "own",
    },
    ("syntax", "sentences"): {"sy_relation": "det", "sy_arcs": "everything", "head": "2-1"},
    ("token_pairs", "workbench"): {
        "tp_layer": 2,
        "tp_direction": "both",
        "tp_text": '"cat"',
        "tp_source_text": "a",
        "tp_target_text": "t",
        "tp_relation": "adjacent",
        "tp_rank": "mean",
        "tp_least": 1,
        "tp_source": "dog",
        "tp_target": "ran",
        "tp_live": "live",
    },
}
"""By page and section what can be chosen there, each another than the default; these sections have
every kind of picker between them."""

DEFAULTS = {
    ("positions", "waves"): {"po_carrier": "embeddings", "po_scale": "linear"},
    ("relevance", "map"): {"re_image": 0, "re_rule": "iv", "re_layer": LAYERS, "re_head": "mean"},
}
"""What some choices are where the address says nothing."""

WRITTEN = ("tp_text", "tp_source_text", "tp_target_text", "tp_source", "tp_target")
"""Words that a reader writes, which may be any."""


@pytest.fixture
def restored(opened, request):
    """Opens a section with choices in its address."""

    def restore(place: tuple[str, str], lang: str = "en", **choices: str):
        page, view = place
        name = {"relevance": "images", "syntax": "treebank"}.get(page, "store")
        folder = request.getfixturevalue(f"{name}_folder")
        session = opened(page, folder, lang=lang, **{VIEWS[page]: view}, **choices)
        assert_sound(session)
        return session

    return restore


@pytest.mark.parametrize(("place", "lang"), list(zip(CHOICES, cycle(("en", "ja")))), ids=str)
def test_a_link_restores_every_choice(place, lang, restored):
    choices = CHOICES[place]
    written = {key: str(value) for key, value in choices.items()}
    session = restored(place, lang, **written)
    assert {key: str(session.session_state[key]) for key in choices} == written
    assert {key: in_address(session, key) for key in choices} == {
        key: [value] for key, value in written.items()
    }


@pytest.mark.parametrize(
    ("place", "value"), list(zip(CHOICES, cycle(("9999999", "x", "<b>", "9-9")))), ids=str
)
def test_a_link_to_what_is_not_there_shows_the_default(place, value, restored):
    plain, defaults = restored(place), DEFAULTS.get(place, {})
    chosen = [key for key in {**CHOICES[place], **defaults} if key not in WRITTEN]
    keys = [key for key in chosen if key in plain.session_state]
    expected = {key: plain.session_state[key] for key in keys}
    session = restored(place, **dict.fromkeys(keys, value))
    assert {key: session.session_state[key] for key in keys} == expected
    assert all(expected[key] == default for key, default in defaults.items())
    assert not any(in_address(session, key) for key in keys)
    notes = [toast.value for toast in session.toast]
    assert [key for key in keys if any(f"{key} = " in note for note in notes)] == keys
    assert not plain.toast


def test_a_link_says_that_it_was_made_of_another_content(opened, store_folder):
    content = described(version_of(store_folder / "tiny.duckdb")).content
    session = opened("layer_mixing", store_folder, content="00000000")
    [line] = [caption.value for caption in session.main.caption if "another tiny" in caption.value]
    assert "with the content 00000000; it is " + content in line
    kinds = [element.type for element in session.main]
    assert kinds.index("title") < kinds.index("caption") < kinds.index("vega_lite_chart")
    assert "another tiny" not in " ".join(element.value for element in session.sidebar.caption)
    assert in_address(session, "content") == ["00000000"]
    assert "another tiny" not in captions(opened("layer_mixing", store_folder, content=content))


def test_a_link_to_a_missing_file_stops_and_leads_to_the_same_view_of_those_there_are(
    opened, store_folder
):
    view = {"lm_view": "ratio", "lm_scope": "attn"}
    session = opened("layer_mixing", store_folder, file="gone.duckdb", content="00000000", **view)
    assert_sound(session)
    assert "no file gone" in session.error[0].value
    assert not charts(session)
    assert in_address(session, "file") == ["gone.duckdb"]
    [link] = [link.proto for link in session.main.get("page_link")]
    assert link.page == "layer-mixing"
    expected = {"file": "tiny.duckdb", "lang": "en", **view}
    assert dict(parse_qsl(link.query_string)) == expected


def test_an_address_with_a_choice_names_file_content_language_and_section(opened, store_folder):
    session = opened("layer_mixing", store_folder, lm_view="ratio").run()
    assert "another tiny" not in captions(session)
    session.selectbox(key="lm_scope").set_value("attn").run()
    assert_sound(session)
    store = described(version_of(store_folder / "tiny.duckdb"))
    named = {key: in_address(session, key) for key in ("file", "content", "lang", "lm_view")}
    assert named == {
        "file": ["tiny.duckdb"],
        "content": [store.content],
        "lang": ["en"],
        "lm_view": ["ratio"],
    }


@pytest.mark.parametrize(
    ("page", "query", "current"),
    [
        ("attention-norms", "an_view=layers", "norms?an_view=layers"),
        (
            "attention-norms",
            "an_view=head&an_token=a&head=2-1",
            "head?he_token=a&head=2-1&he_view=tokens",
        ),
        ("head-habits", "hh_view=one_head&hh_head=2-1", "head?hh_head=2-1&he_view=profile"),
        ("sinks", "si_view=texts&file=x.duckdb", "head?file=x.duckdb&he_view=tokens"),
        ("positions", "po_view=one_head&po_reach=10", "head?he_reach=10&he_view=waves"),
        ("syntax", "sy_view=one_head&sy_least=2", "head?he_least=2&he_view=words"),
        ("positions", "po_view=claim", "positions?po_view=claim"),
    ],
)
def test_an_older_address_leads_to_where_its_section_is(page, query, current):
    pairs = [tuple(pair.split("=")) for pair in query.split("&")]
    now, kept = current_place(page, pairs)
    assert f"{now}?" + "&".join("=".join(pair) for pair in kept) == current


def test_every_older_section_leads_to_one_that_is_there():
    pages = {page: import_module(f"pages.{page}.page").PAGE for page in VIEWS}
    moved = {(page, old): (page, new) for page in pages for old, new in pages[page].moved.items()}
    assert len(moved) > 20
    assert all(new in stems(page) for page, new in (*moved.values(), *MOVED.values()))
    assert not [old for page, old in (*moved, *MOVED) if old in stems(page)]
    assert set(RENAMED.values()) <= set(VIEWS)


@pytest.mark.parametrize(
    ("page", "old", "new"),
    [("positions", "shares", "content"), ("token_pairs", "browse", "workbench")],
)
def test_an_older_section_opens_where_it_is_now(page, old, new, restored):
    session = restored((page, old))
    assert session.session_state[VIEWS[page]] == new
    assert not session.toast

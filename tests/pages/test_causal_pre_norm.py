"""Pages on a file of a pre-norm, causal model: what it has, and what it does not have."""

from itertools import cycle

import duckdb
import pyarrow as pa
import pytest

from analysis.scopes import POST_NORM, PRE_NORM
from pages.ui.words.say import catalogue
from tests.pages.conftest import (
    assert_sound,
    bodies,
    captions,
    charts,
    frames,
    options_of,
    sentences,
)

pytestmark = pytest.mark.slow

PAGES = ("norms", "layer_mixing", "token_pairs", "overview")


@pytest.fixture
def section(opened, gpt2_folder):
    def open_section(page: str, view: str, lang: str = "en", **address: str):
        place = dict([view.split("=")]) if view else {}
        session = opened(page, gpt2_folder, lang=lang, **place, **address)
        assert_sound(session)
        return session

    return open_section


@pytest.mark.parametrize(
    ("page", "lang"), [(page, lang) for page, lang in zip(PAGES, cycle(("en", "ja")))]
)
def test_a_page_opens_and_says_what_is_absent(page, lang, section):
    session = section(page, "", lang)
    assert not session.error
    assert charts(session) or frames(session)
    text = captions(session)
    for absent in ("absent.special", "absent.behind"):
        assert catalogue()[absent][lang] in text


def test_nothing_is_said_to_be_absent_of_a_model_that_has_it(opened, store_folder):
    text = captions(opened("layer_mixing", store_folder))
    for absent in ("absent.special", "absent.behind", "layer_mixing.anatomy_pre_norm"):
        assert catalogue()[absent]["en"] not in text
    assert catalogue()["layer_mixing.anatomy_post_norm"]["en"] in text


def test_the_anatomy_is_that_of_the_order(section):
    lang = "ja"
    session = section("layer_mixing", "lm_view=ratio", lang)
    body = bodies(session)
    assert body.count('class="lm-name"') == len(PRE_NORM.scopes)
    for scope in PRE_NORM.scopes:
        paper = scope.title().replace("_", "") if scope != "attn_w" else "Attn-w"
        assert f'title="{paper}">' in body
    assert catalogue()["layer_mixing.anatomy_pre_norm"][lang] in captions(session)


def test_only_steps_that_the_layers_have_are_offered(section):
    modules = section("layer_mixing", "lm_view=modules")
    offered = options_of(modules, "lm_effect")
    assert len(offered) == len(PRE_NORM.effects) == len(POST_NORM.effects) - 1
    pairs = section("token_pairs", "tp_view=workbench")
    assert len(next(box for box in pairs.selectbox if box.key == "tp_effect").options) == 3


def test_word_frequency_is_told_once_where_there_are_no_special_tokens_to_leave_out(section):
    session = section("norms", "an_view=frequency")
    (shown,) = (frame for frame in frames(session) if "spearman" in frame)
    assert len(shown) == 2
    assert not shown.duplicated("name").any()


def test_live_maps_have_no_cell_behind_the_target(section):
    session = section("token_pairs", "tp_view=workbench", tp_live="live")
    *_, maps = session.get("vega_lite_chart")
    (cells,) = {dataset.data.data for dataset in maps.proto.datasets}
    rows = pa.ipc.open_stream(cells).read_all().to_pylist()
    assert {(row["target_pos"], row["source_pos"]) for row in rows} == {
        (target, source)
        for target in {row["target_pos"] for row in rows}
        for source in {row["source_pos"] for row in rows}
        if source <= target
    }
    assert catalogue()["token_pairs.workbench.maps_causal"]["en"] in captions(session)


def test_a_pair_the_wrong_way_round_is_explained(section, gpt2_folder):
    with duckdb.connect(str(gpt2_folder / "tiny.duckdb"), read_only=True) as store:
        source, target = store.execute(
            "select s.token, t.token from pair as a "
            "left join pair as b on a.source = b.target and a.target = b.source "
            "join vocabulary as s on s.token_id = a.source "
            "join vocabulary as t on t.token_id = a.target "
            "where b.n is null order by all limit 1"
        ).fetchall()[0]
    session = section("token_pairs", "tp_view=workbench", tp_source=target, tp_target=source)
    assert "sees only itself and earlier tokens" in session.info[0].value


@pytest.mark.parametrize(
    ("page", "view", "name"),
    [
        ("head_map", "hm_view=map", "gpt2"),
        *(("positions", f"po_view={view}", "gpt2") for view in ("claim", "heads")),
        *(("head", f"he_view={view}", "gpt2") for view in ("offsets", "waves")),
        ("syntax", "sy_view=heads", "causal_trees"),
    ],
)
def test_it_is_said_of_a_causal_model_that_it_is_one(page, view, name, opened, request):
    folders = (request.getfixturevalue(f"{of}_folder") for of in (name, "treebank"))
    for folder, is_causal in zip(folders, (True, False), strict=True):
        text = sentences(opened(page, folder, **dict([view.split("=")])))
        assert ("This model is causal" in text) == is_causal

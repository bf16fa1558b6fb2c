"""Relevance: numbers of the file, verdicts of findings, maps of one's own, and what files lack."""

import numpy as np
import pytest

from analysis.relevance_rules import ALL, MEAN_WEIGHTS
from tests.pages.conftest import bodies, charts, frames, in_address, sentences
from tests.pages.kit.copies import lacking
from tests.pages.kit.figures import click, frame_of
from tests.small_images import SIZES
from tests.tiny import HEADS as TEXT_HEADS
from tests.tiny import LAYERS as TEXT_LAYERS
from tests.tiny_vision import COLUMNS, HEADS, LAYERS, ROWS

assert TEXT_HEADS != HEADS  # a page that took the number from elsewhere would be found out
NAME = "disc.png"  # half of several patches is inside its mask
SEQ = {name: place for place, name in enumerate(sorted(SIZES))}
MASK, NO_MASK = SEQ[NAME], SEQ["plain.png"]
N = ROWS * COLUMNS


def summary(quantity: str, mean: float, by: float = 0.01, where: str = "true") -> str:
    return (
        f"update stored.relevance_summary set mean = {mean}, low = {mean - by}, "
        f"high = {mean + by} where quantity = '{quantity}' and {where}"
    )


def area(mean: float, by: float = 0.01, where: str = "true") -> str:
    return (
        f"update stored.perturbation set mean = {mean}, low = {mean - by}, high = {mean + by} "
        f"where share is null and curve = 'deletion' and {where}"
    )


def agree(mean: float, *rules: str) -> str:
    return (
        f"update stored.relevance_agreement set mean = {mean}, low = {mean}, high = {mean} where "
        f"rule_a in {rules} and rule_b in {rules} and rule_a <> rule_b"
    )


HALF = f"[0.5] || list_resize([0.3::float], {N}, 0.2 / {N - 1})"
VERDICTS = [
    (
        *("map", f"update stored.relevance_map set relevance = {HALF}", "plain.png"),
        "Of the relevance on this image's patches, the share of the 1 most relevant is 60.0%, "
        "against an even map's, 8.3% (without intervals). Share of all relevance that stays on "
        "[CLS] 50.0%, against an even share of all tokens, 7.7% (without intervals).",
    ),
    (
        *("corpus", [summary("mask_share", 0.5), summary("mask_share", 0.9, where="rule = 'ii'")]),
        *("", "The share inside the mask, carried back from layer 3, is largest by rule ii of the "
        "5 drawn, 90.0% [89.0%, 91.0%], above an even map's, "),
    ),
    (
        *("corpus", [summary("mask_share", 0.5), summary("mask_share", 0.9, where="rule = 'ii'")]),
        *("", "and that by rule i (attention rollout), 50.0% [49.0%, 51.0%]."),
    ),
    (
        *("methods", [area(0.5), area(0.2, where="rule = 'iii'")], ""),
        "The class depends on the patches that rule iii finds**: The mean probability of the "
        "predicted class, while patches are taken away in order of relevance, is lowest by rule "
        "iii of the 8 compared, 20% [19%, 21%], below that in random order, 50% [49%, 51%].",
    ),
    (
        *("methods", [area(0.5), area(0.2, 0.4, "rule = 'iii'")], ""),
        "Not even the best of these orders clearly beats chance",
    ),
    (
        "methods",
        [
            "update stored.relevance_agreement set mean = 0.5, low = 0.5, high = 0.5",
            agree(0.99, "ii", "ii_mean_weights"),
            agree(0.75, "i", "iv"),
            agree(-0.25, "iii", "attention"),
        ],
        "",
        "The two that agree least are attention weights and rule iii, with a rank correlation ρ "
        "of −0.25, below that of rule i and rule iv, which agree most, 0.75.",
    ),
]  # fmt: skip
"""Section, plants, image, and what the finding says; a rule is not praised for agreeing with its
own variant on mean weights."""


@pytest.mark.parametrize(("stem", "statements", "name", "expected"), VERDICTS)
def test_a_finding_says_what_its_numbers_allow(
    stem, statements, name, expected, section, images_folder, after_images
):
    after_images(*([statements] if isinstance(statements, str) else statements))
    address = {"re_image": str(SEQ[name])} if name else {}
    said = sentences(section(stem, images_folder, **address)).replace("\\", "")
    assert expected in said


def test_a_text_tells_its_tokens_and_what_special_ones_keep(section, after):
    relevance = "[0.5, 0.1, 0.2] || list_resize([]::float[], len(relevance) - 4, 0.0) || [0.2]"
    after(f"update stored.relevance_map set relevance = {relevance}")
    said = sentences(section("text")).replace("\\", "")
    assert "on “cat”, the most relevant token of this text, 20.00%, against an even share" in said
    assert "; the 10.00%" in said
    assert "special tokens and on the token where it starts 70.0%, against their part" in said
    assert "[CLS] 50.0%, [SEP] 20.0%" in said


@pytest.mark.parametrize("picked", [None, ["i", "ii_mean_weights", "random"]])
def test_methods_names_nothing_that_it_does_not_draw(picked, section, images_folder, exported):
    """The rule that leaves least, and the pairs, are among those of the charts."""
    address = {"re_curve_rules": picked} if picked else {}
    said = sentences(section("methods", images_folder, **address))
    drawn = set(frame_of(exported, "re_methods_change")["rule"])
    assert drawn == set(picked or [*(set(ALL) - set(MEAN_WEIGHTS)), "random"])
    of_maps = frame_of(exported, "re_methods_over_image")["rule"]
    assert set(of_maps) == drawn - {"random"}
    assert set(frame_of(exported, "re_methods_agreement")["rule_a"]) == drawn - {"random"}
    if picked:
        assert "norm rollout" not in said.partition("How this is measured")[0]


def stored(answers, seq: int, rule: str, layer: int, head: int | None) -> np.ndarray:
    number = "is null" if head is None else f"= {head}"
    [(relevance,)] = answers(
        "select relevance from relevance_map "
        f"where seq = {seq} and rule = '{rule}' and layer = {layer} and head {number}"
    )
    return np.array(relevance)


def test_every_patch_has_what_the_file_keeps_of_it(section, images_folder, exported, image_answers):
    of = {"re_image": str(MASK), "re_rule": "iii", "re_layer": "2", "re_head": "1"}
    session = section("map", images_folder, **of)
    grid = frame_of(exported, "re_map_grid").groupby(["rule", "head"])
    assert len(grid) == 5 * (1 + HEADS)
    for (rule, head), rows in grid:
        number = None if head == "mean" else int(head)
        relevance = stored(image_answers, MASK, rule, 2, number)
        np.testing.assert_allclose(rows["relevance"], relevance[1:], rtol=1e-6)
        even = relevance[1:] * N / relevance[1:].sum()
        np.testing.assert_allclose(rows["times_even"], even, rtol=1e-6)
    for layer, rows in frame_of(exported, "re_map_layers").groupby("layer"):
        relevance = stored(image_answers, MASK, "iii", int(layer), 1)
        np.testing.assert_allclose(rows["relevance"], relevance[1:], rtol=1e-6)
    [(mask, chance)] = image_answers(
        "select mask_share, mask_chance from sequence_relevance "
        f"where seq = {MASK} and rule = 'iii' and layer = 2 and head = 1"
    )
    assert f"share inside the mask is {mask:.1%}, against an even map's, {chance:.1%}" in sentences(
        session
    )


def test_a_click_on_a_map_chooses_what_it_shows(section, images_folder):
    session = section("map", images_folder)
    click(session, "re_grid", "map", {"rule": "ii", "head": 2})
    assert [in_address(session, f"re_{name}") for name in ("rule", "head")] == [["ii"], ["2"]]
    click(session, "re_layers", "map", {"layer": 1})
    assert in_address(session, "re_layer") == ["1"]


def test_a_method_without_heads_or_layers_shows_what_it_has(section, images_folder):
    session = section("map", images_folder, re_rule="gradient_attention", re_layer="1")
    assert session.session_state["re_layer"] == LAYERS
    assert "all heads at once" in session.subheader[0].value
    assert len(charts(session)) == 2, "its own map, and those of the rules"


def test_images_of_a_list_open_their_maps(section, images_folder, image_answers):
    of = {"re_quantity": "top5_share", "re_head_rule": "iii", "re_layer": "1", "re_head": "2"}
    session = section("corpus", images_folder, **of)
    [(seq,), *_] = image_answers(
        "select seq from sequence_relevance where rule = 'iii' and layer = 1 and head = 2 "
        "order by top5_share desc, seq"
    )
    assert frames(session)[0]["seq"][0] == seq
    click(session, "re_most", "rows", 0)
    assert in_address(session, "re_image") == ([str(seq)] if seq else [])
    assert in_address(session, "re_rule") == ["iii"]


@pytest.mark.parametrize("quantity", ["mask_gain", "pointing", "entropy"])
def test_every_quantity_is_drawn_beside_an_even_map(quantity, section, images_folder, exported):
    section("corpus", images_folder, re_quantity=quantity)
    frame = frame_of(exported, "re_corpus_layers").set_index("rule")
    even = frame.loc["even", "mean"].unique()
    expected = {"mask_gain": 0, "entropy": np.log(N)}
    assert len(even) == 1
    assert quantity not in expected or even[0] == pytest.approx(expected[quantity])


def test_quantities_are_those_that_a_file_tells_apart(section, images_folder):
    of_texts = section("corpus", re_quantity="special_share")
    assert of_texts.session_state["re_quantity"] == "special_share"
    of_images = section("corpus", images_folder, re_quantity="special_share")
    assert of_images.session_state["re_quantity"] != "special_share"
    assert section("corpus", re_quantity="mask_share").session_state["re_quantity"] == "cls_share"


def test_a_text_has_its_map_its_heads_and_its_layers(section, exported):
    session = section("text")
    assert bodies(session).count('class="an-text"') == 1 + TEXT_HEADS
    assert len(charts(session)) == 1
    first = bodies(session).split('class="an-text"')[1].split("</div>")[0]
    assert "[CLS]" in first.split("background", 1)[0], "special tokens have no ground"
    exported.clear()
    other = section("text", re_rule="norm_rollout")
    assert bodies(other).count('class="an-text"') == 1
    assert not any(key.startswith("re_text_heads") for key in exported)
    strongest = "rgba(44, 156, 124, 0.660)"
    own, shared = (bodies(section("text", re_scale=scale)) for scale in ("own", "shared"))
    assert own.count(strongest) > shared.count(strongest)


def test_relevance_starts_at_the_last_token_of_a_causal_model(section, gpt2_folder, exported):
    html = bodies(section("text", gpt2_folder))
    frame = frame_of(exported, "re_text_layers")
    apart = frame.loc[frame["layer"] == 1, "apart"].to_numpy()
    assert np.flatnonzero(apart).tolist() == [len(apart) - 1]
    assert "Ġ" not in html
    assert 'title="␣: ' in html


def test_ones_own_text_has_the_maps_that_a_run_would_keep(section, exported, answers):
    ((text, n_tokens),) = answers("select text, n_tokens from sequence where seq = 1")
    session = section("text", re_seq="own", re_rule="iv")
    assert not charts(session)
    session.text_area[0].set_value(text)
    exported.clear()
    session.button[0].click().run()
    frame = frame_of(exported, "re_text_heads")
    assert len(frame) == n_tokens
    for head in range(1, TEXT_HEADS + 1):
        expected = stored(answers, 1, "iv", TEXT_LAYERS, head)
        assert frame[f"head_{head}"].tolist() == pytest.approx(expected.tolist(), abs=1e-5)
    session.text_area[0].set_value("the cat sat " * 200)
    session.button[0].click().run()
    assert any("first 36 tokens" in caption.value for caption in session.caption)


def test_ones_own_image_has_the_maps_that_a_run_would_keep_and_what_is_none_is_refused(
    section, images_folder, exported, image_answers
):
    session = section("map", images_folder, re_image="own")
    assert any("Choose an image" in note.value for note in session.info)
    session.file_uploader[0].upload("text.png", b"no image at all", "image/png").run()
    assert "text" in session.warning[0].value
    content = (images_folder / "images" / NAME).read_bytes()
    session.file_uploader[0].upload(NAME, content, "image/png").run()
    for rule in ("iv", "gradient_attention"):
        exported.clear()
        session.selectbox(key="re_rule").select(rule).run()
        expected = stored(image_answers, MASK, rule, LAYERS, None)[1:]
        frame = frame_of(exported, "re_map_one")
        assert frame["relevance"].tolist() == pytest.approx(expected.tolist(), abs=1e-5)


@pytest.mark.parametrize("stem", ["text", "map"])
def test_without_the_model_there_are_no_maps_of_ones_own(stem, section, changed, changed_images):
    change, pick = (changed, "re_seq") if stem == "text" else (changed_images, "re_image")
    folder = change("update stored.run set model = '/no such folder/model'")
    session = section(stem, folder, **{pick: "own"})
    if stem == "text":
        session.text_area[0].set_value("the cat")
        session.button[0].click().run()
    assert session.warning
    assert not charts(session)


def test_where_curves_cannot_be_drawn_the_reader_is_told(section, changed_images):
    folder = changed_images(*lacking("perturbation"))
    for session in (section("methods"), section("methods", folder)):
        assert any("no curves of insertion and deletion" in note.value for note in session.info)
        assert charts(session)


def test_texts_that_are_all_too_long_are_told_as_the_reason(section, changed):
    most = int((2**27 // (TEXT_LAYERS * TEXT_HEADS)) ** 0.5)
    tables = ("relevance_map", "relevance_summary", "sequence_relevance")
    emptied = [statement for table in tables for statement in lacking(table)]
    for longest, said in ((most + 1, f"may have 512 MiB: {most:,} tokens"), (most, "hold")):
        folder = changed(*emptied, f"update stored.sequence set n_tokens = {longest} + seq")
        for stem in ("text", "methods", "corpus"):
            assert said in section(stem, folder).info[0].value

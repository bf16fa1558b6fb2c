"""A model that turns its queries and keys has a story of its own, and nothing of the other one."""

import numpy as np

from tests.pages.conftest import charts, frames, options_of, sentences
from tests.pages.kit.copies import changes_of

changed_turned = changes_of("turned_folder")
SURE = (
    "update stored.position_kernel set low = kernel - 0.5, high = kernel + 0.25",
    "update stored.score_share set position_low = position - 0.02, position_high = position + 0.01",
)
"""What makes the intervals of a file of too few texts."""


def test_the_page_says_why_waves_of_embeddings_are_absent(section, turned_folder, store_folder):
    why = "This model adds no vectors for positions to its input"
    assert why in sentences(section("claim", turned_folder))
    assert why not in sentences(section("claim", store_folder))


def test_positions_alone_are_counted_first_and_only_where_there_are_some(
    section, turned_folder, store_folder
):
    turned = options_of(section("claim", turned_folder), "po_counting")
    assert turned == ["position alone", "sums", "means per pair", "sums, rows centred"]
    added = options_of(section("claim", store_folder), "po_counting")
    assert added == ["sums (the paper's)", "means per pair", "sums, rows centred"]


def test_the_kernel_has_a_band_and_the_share_of_position_a_line_where_they_have_intervals(
    section, turned_folder, changed_turned
):
    def drawn(folder, name: str) -> str:
        return str(charts(section(name, folder, head="2-3"))[0])

    sure = changed_turned(*SURE)
    for name, mark, end in (("content", "rule", "low"),):
        with_interval, without = drawn(sure, name), drawn(turned_folder, name)
        assert f"'type': '{mark}'" in with_interval
        assert "'y2': {'field': " in with_interval
        assert f"{{'field': '{end}'," in with_interval
        assert "'y2': {'field': " not in without


def test_intervals_are_told_in_the_table(section, turned_folder, changed_turned):
    session = section("content", changed_turned(*SURE), head="2-3")
    shown = frames(session)[0]
    near = shown["position_high"] - shown["position_low"]
    np.testing.assert_allclose(near, 0.03)


def test_the_overview_is_told_of_position_alone(findings_of, turned_folder):
    text = sentences(findings_of("positions", turned_folder))
    assert "attend most at exactly the offset with the highest score" in text
    assert "that is due to position alone (mean over heads and layers)" in text

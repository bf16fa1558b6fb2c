"""The overview says what the file says."""

import os
from shutil import copyfile

import duckdb
import pytest

from pages.shared.numbers import percent, scientific, signed
from tests.small_store import build_store


@pytest.fixture
def store(store_folder):
    with duckdb.connect(str(store_folder / "tiny.duckdb"), read_only=True) as opened:
        yield opened


def sentences(session) -> str:
    return "\n".join(element.value for element in session.markdown)


def test_the_shares_are_means_over_layers_of_what_the_file_holds(opened, store_folder, store):
    weight, norm = store.execute(
        """
        select sum(attention) filter (token_type <> 'other') / sum(attention),
            sum(weighted_norm) filter (token_type <> 'other') / sum(weighted_norm)
        from token_type_mixing where head is null
        """
    ).fetchall()[0]
    session = opened("overview", store_folder)
    assert f"{percent(weight)} → {percent(norm)}" in [each.value for each in session.subheader]
    assert percent(norm) in sentences(session)


def test_the_strongest_correlation_of_a_special_type_is_told(opened, store_folder, store):
    [(rho,)] = store.execute(
        """
        select spearman from attention_norm_correlation
        where layer is null and token_type <> 'other' order by abs(spearman) desc limit 1
        """
    ).fetchall()
    session = opened("overview", store_folder)
    assert f"ρ = {signed(rho)}" in [each.value for each in session.subheader]


def test_completeness_is_told_with_its_limit(opened, store_folder, store):
    [(worst,)] = store.execute("select max(worst_relative_error) from completeness").fetchall()
    [success] = opened("overview", store_folder).success
    assert scientific(worst) in success.value
    assert scientific(1e-3) in success.value


def test_a_file_above_the_limit_is_no_success(opened, store_folder, tmp_path):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "off.duckdb")
    with duckdb.connect(str(tmp_path / "off.duckdb")) as store:
        store.execute("update stored.completeness set relative_error = 0.5")
    session = opened("overview", tmp_path)
    assert not session.success
    assert scientific(0.5) in session.warning[0].value


def test_a_file_with_one_statistic_tells_that_and_no_more(opened, tmp_path):
    os.replace(build_store(tmp_path / "made", statistics=["token_norm"]), tmp_path / "x.duckdb")
    session = opened("overview", tmp_path)
    assert not session.exception
    assert not session.success
    assert "completeness" in session.warning[0].value
    assert "At a glance" not in [each.value for each in session.header]


def test_other_files_are_listed_readable_or_not(opened, store_folder, tmp_path):
    for name in ("a.duckdb", "b.duckdb"):
        copyfile(store_folder / "tiny.duckdb", tmp_path / name)
    (tmp_path / "c.duckdb").write_text("not a database")
    told = sentences(opened("overview", tmp_path, file="b.duckdb"))
    assert "on text\\.txt, 3 sequences" in told
    assert "c\\.duckdb cannot be read" in told


@pytest.mark.parametrize(
    ("value", "text"), [(0.364, "36 %"), (0.004, "0.4 %"), (0.999, "99.9 %"), (0.0, "0.0 %")]
)
def test_percentages_are_whole_where_that_says_enough(value, text):
    assert percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(1.57e-7, "1.6·10⁻⁷"), (1e-3, "1.0·10⁻³"), (9.96e-4, "1.0·10⁻³"), (0, "0")]
)
def test_small_numbers_are_told_as_powers_of_ten(value, text):
    assert scientific(value) == text


@pytest.mark.parametrize(
    ("rho", "expected"),
    [(-0.5, "the shorter its vector"), (0.5, "the longer its vector"), (0.05, "hardly has")],
)
def test_a_weak_correlation_is_not_told_as_one(rho, expected, opened, store_folder, tmp_path):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "x.duckdb")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as store:
        store.execute(f"update stored.attention_norm_correlation set spearman = {rho}")
    assert expected in sentences(opened("overview", tmp_path))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.2, 0.4, "Frequent words have shorter vectors"),
        (-0.4, -0.2, "Frequent words have longer vectors"),
        (-0.1, 0.3, "No clear relation"),
    ],
)
def test_an_interval_that_holds_0_claims_nothing(
    low, high, expected, opened, store_folder, tmp_path
):
    copyfile(store_folder / "tiny.duckdb", tmp_path / "x.duckdb")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as store:
        store.execute(
            "update stored.frequency_correlation set spearman = $rho, low = $low, high = $high",
            {"rho": (low + high) / 2, "low": low, "high": high},
        )
    assert expected in sentences(opened("overview", tmp_path))

"""A run with a stopping rule stops when its intervals are narrow enough, and reports it."""

from dataclasses import replace

import pytest

from analysis.errors import UserError
from precompute import run as running
from precompute.jobs.runner import run_local
from precompute.run import run
from tests.refusals import refused
from tests.small_store import facts_of, fetched, request

FIRST = 12
"""Sequences of the first round: just enough for an interval."""
LINES = ["The cat sat.", "The dog ran, the cat sat.", "The mat.", "Dog, cat.", "Cat sat, dog ran."]


@pytest.fixture(autouse=True)
def small_rounds(monkeypatch):
    monkeypatch.setattr(running, "FIRST", FIRST)


@pytest.fixture
def asked(tmp_path):
    """A run over sixty texts, each a document."""
    text = tmp_path / "sixty.txt"
    text.write_text("\n\n".join(LINES * 12), encoding="utf-8")
    return replace(request(tmp_path, statistics=["token_type_mixing"]), corpus=str(text))


def n_sequences(asked) -> int:
    return fetched(asked.output, "select n_sequences from run")[0][0]


def test_a_run_stops_in_the_first_round_that_is_narrow_enough(asked, tmp_path, capsys):
    run(replace(asked, until=0.0), run_local)
    lines = capsys.readouterr().out.splitlines()
    rounds = [line.split(" is ")[1] for line in lines if "widest interval is" in line]
    first, second, third, fourth = (float(said.split(" ")[0]) for said in rounds)
    assert first > second > third > fourth, "more texts do not narrow the interval here"
    assert n_sequences(asked) == 60
    run(replace(asked, until=(second + third) / 2), run_local)
    n, facts = n_sequences(asked), facts_of(asked.output)
    [(width,)] = fetched(asked.output, "select max(high - low) from token_type_interval")
    assert n == 4 * FIRST
    assert facts["limit"] == str(n)
    assert width == pytest.approx(third, rel=1e-3)
    assert facts["widest_interval"] == f"{width:.4g} (token_type_mixing)"
    limited = replace(asked, output=tmp_path / "limited.duckdb", limit=n)
    run(limited, run_local)
    rows = "select name, checksum from manifest where name not in ('run', 'provenance') order by 1"
    assert fetched(asked.output, rows) == fetched(limited.output, rows)


def test_a_run_with_a_stopping_rule_reads_no_more_than_its_limit(asked):
    run(replace(asked, until=0.0, limit=20), run_local)
    assert n_sequences(asked) == 20


@pytest.mark.parametrize(
    ("statistics", "message"),
    [
        (None, "--until needs --statistics: name those whose intervals decide"),
        (["head_token"], "--until goes by 95% intervals, and head_token has none. Name some of: "),
    ],
)
def test_statistics_without_intervals_are_refused(asked, statistics, message):
    wrong = replace(asked, until=0.1, statistics=statistics)
    assert refused(UserError, run, wrong, run_local).startswith(message)
    assert not asked.output.exists()

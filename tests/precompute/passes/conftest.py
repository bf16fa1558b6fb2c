"""A store with masked tokens, as fits find it, and the sequences it was made of."""

from collections.abc import Iterator

import duckdb
import pandas as pd
import pytest
from duckdb import DuckDBPyConnection

from analysis.scopes import EFFECTS, SCOPES
from precompute.load_models import load_model
from precompute.passes.base import Batch
from precompute.plan import Plan
from precompute.run import Request, run
from precompute.runner import run_local
from tests.reference import pair_delta as reference
from tests.small_store import request as asked_for

WHOLE_LAYER = ("scope_similarity", "mixing_ratio", "relation_share", "rollout")


@pytest.fixture(scope="session")
def masked_run(tmp_path_factory) -> tuple[Request, Plan]:
    folder = tmp_path_factory.mktemp("masked")
    asked = asked_for(folder, mask_rate=0.3, statistics=list(WHOLE_LAYER))
    return asked, run(asked, run_local)


@pytest.fixture(scope="session")
def masked_store(masked_run) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(masked_run[0].output), read_only=True) as store:
        yield store


@pytest.fixture(scope="session")
def masked_batches(masked_run) -> list[Batch]:
    """Every sequence of the store traced again, by itself."""
    asked, plan = masked_run
    model = load_model(asked.model, device="cpu")
    return [Batch((each,), model.trace([each])) for each in plan.corpus.sequences]


@pytest.fixture(scope="session")
def pair_run(tmp_path_factory, family) -> tuple[Request, Plan]:
    """Everything about pairs of tokens, on every family."""
    folder = tmp_path_factory.mktemp(f"pairs-{family}")
    statistics = ["pair_occurrence", "pair_pmi_correlation"]
    asked = asked_for(folder, family, mask_rate=0.1, statistics=statistics)
    return asked, run(asked, run_local)


@pytest.fixture(scope="session")
def pair_store(pair_run) -> Iterator[DuckDBPyConnection]:
    with duckdb.connect(str(pair_run[0].output), read_only=True) as store:
        yield store


@pytest.fixture(scope="session")
def slow_deltas(pair_run) -> dict[tuple[int, str], list[tuple[list[int], reference.Matrix]]]:
    """By layer and effect, the token ids and changes of every sequence, pair by pair."""
    asked, plan = pair_run
    model = load_model(asked.model, device="cpu")
    found: dict = {}
    for sequence in plan.corpus.sequences:
        (layers,) = Batch((sequence,), model.trace([sequence])).layer_mixing
        for layer, mixing in enumerate(layers, start=1):
            norms: dict[str, reference.Matrix] = dict(
                zip(SCOPES, mixing.maps.double().tolist(), strict=True)
            )
            for effect, (before, after) in EFFECTS.items():
                changes = reference.deltas(norms[before], norms[after])
                found.setdefault((layer, effect), []).append((sequence.ids.tolist(), changes))
    return found


@pytest.fixture(scope="session")
def all_pairs(pair_store) -> pd.DataFrame:
    """Every pair of every layer and effect under the names of the lists, in no order of theirs."""
    wide = pair_store.execute("from pair_delta_wide").df()
    names = pair_store.execute("from vocabulary").df().set_index("token_id")["token"]
    told = pair_store.execute(
        "select source, target, pmi::double as pmi, relation, has_special, "
        "relation_share::double as relation_share from pair"
    ).df()
    keys = ["layer", "source", "target", "n", "n_sequences"]
    rows = [
        wide[keys].assign(
            effect=effect,
            mean_delta=wide[f"mean_{effect}"].astype(float),
            std_delta=wide[f"std_{effect}"].astype(float),
        )
        for effect in EFFECTS
    ]
    merged = pd.concat(rows).merge(told, on=["source", "target"])
    merged = merged.rename(columns={"source": "source_id", "target": "target_id"})
    return merged.assign(
        source=merged["source_id"].map(names), target=merged["target_id"].map(names)
    )

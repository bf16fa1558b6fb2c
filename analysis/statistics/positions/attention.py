"""Attention of each head by relative position: profiles, kinds of heads, and preferred offsets.

Offsets beyond 10 are not kept one by one, however long the texts: a head has 21 numbers per text.
η² counts all offsets.
"""

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.measures.positions.offset_agreement import agreement as same_offset
from analysis.measures.positions.offset_agreement import (
    chance_agreement,
    layer_parts,
    preferred_offsets,
    rank_correlation,
)
from analysis.measures.positions.profile_clusters import (
    centre_names,
    nearest_centres,
    profile_centres,
)
from analysis.needs import Need
from analysis.statistics.base.columns import (
    HEAD,
    LAYER,
    SEQ,
    Column,
    correlation,
    count,
    interval,
    number,
    numbers,
    place,
    pooled,
    share,
    small,
    text,
    weight,
)
from analysis.statistics.base.correlations import OF_HEADS, laws_of_parts, parts, values_of_parts
from analysis.statistics.base.tables import UNSTABLE_ARGMAX, FitContext, Part, Table, added_up, view

REACH = 10
_TRACES = 1.05
"""Largest sum of a row of attention weights, which is 1 but for rounding."""
OFFSET = place(
    "place of the key less place of the query; below 0: to the left",
    "tokens",
    name="offset",
    least=None,
)
RELATIVE_POSITION_PROFILE = Table(
    "relative_position_profile",
    key=(LAYER, HEAD, SEQ),
    values={
        "n_tokens": place("tokens of the sequence, special ones included", "tokens", least=1),
        "profile": numbers(
            "α summed over the pairs of one offset, from -10 to 10; NULL where no key may be seen",
            "tokens",
            least=2 * REACH + 1,
            most=2 * REACH + 1,
        ),
        "dependence": share(
            "η²: share of the variance of α over pairs that the offset explains",
            null="if all pairs weigh the same",
            exact=True,
        ),
    },
    source="yamamoto-2023",
    laws=("list_min(profile) >= 0", f"list_sum(profile) <= n_tokens * {_TRACES}"),
    shown_as="sequence_relative_position",
    views=(
        view(
            "relative_position_profile",
            (LAYER, HEAD, OFFSET),
            {"attention": weight("α summed over the pairs of the offset, mean over sequences")},
            note="means over sequences",
            sql=f"""
            select layer, head, "offset", avg(attention) as attention
            from (
                select layer, head, unnest(range(-{REACH}, {REACH + 1}))::smallint as "offset",
                    unnest(profile)::double as attention
                from stored.relative_position_profile
            )
            where attention is not null
            group by layer, head, "offset"
            """,
        ),
    ),
)


def _profiles(store: DuckDBPyConnection) -> pd.DataFrame:
    """Return attention per token, a column for each visible offset: a row by layer and head for
    every text, of all or of the file's sample."""
    rows = store.sql(
        """
        select layer, head, n_tokens, profile
        from kept.relative_position_profile
        order by seq, layer, head
        """
    ).to_arrow_table()
    sums = rows["profile"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    values = sums.reshape(-1, 2 * REACH + 1) / rows["n_tokens"].to_numpy()[:, None]
    heads = pd.MultiIndex.from_frame(rows.select(["layer", "head"]).to_pandas())
    profiles = pd.DataFrame(values.astype(np.float64), heads, np.arange(-REACH, REACH + 1))
    return profiles.dropna(axis="columns")


N_CLUSTERS = tuple(range(2, 13))
"""Numbers of clusters of profiles; the paper takes 6."""
K = small("clusters that profiles are sorted into, 2 to 12", "clusters", name="k", least=2, most=12)
CLUSTER = text(
    "where the centre looks (previous, next, both or self) and how strongly (strong, moderate or "
    "weak)",
    "name",
    name="cluster",
)


def _clustered(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return rows of each number of clusters, for as many as profiles can make up."""
    profiles = _profiles(store)
    offsets = profiles.columns.to_numpy()
    frames = []
    for n_clusters in N_CLUSTERS:
        clustering = profile_centres(profiles.to_numpy(), n_clusters, seed=context.seed)
        if clustering is None:
            break
        names = np.array(centre_names(clustering.centres, offsets))
        cluster, offset = np.indices(clustering.centres.shape).reshape(2, -1)
        columns = {
            "k": n_clusters,
            "cluster": names[cluster],
            "offset": offsets[offset],
            "attention": clustering.centres.clip(min=0).ravel(),
            "n": clustering.sizes[cluster],
            "explained": clustering.explained,
        }
        frames.append(pd.DataFrame(columns))
    return table.rows(frames)


def _head_clusters(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return the share of texts in which each head is nearest to each centre."""
    profiles = _profiles(store)
    centres = store.sql('select k, cluster, "offset", attention from relative_position_centre').df()
    frames = []
    for k, of_k in centres.groupby("k"):
        wide = of_k.pivot(index="cluster", columns="offset", values="attention")
        cluster = wide.index.to_numpy()[nearest_centres(profiles.to_numpy(), wide.to_numpy())]
        rows = profiles.index.to_frame(index=False).assign(cluster=cluster)
        heads = rows.groupby(["layer", "head"])["cluster"]
        frames.append(heads.value_counts(normalize=True).rename("share").reset_index().assign(k=k))
    return table.rows(frames)


RELATIVE_POSITION_CENTRE = Table(
    "relative_position_centre",
    key=(K, CLUSTER, OFFSET),
    values={
        "attention": share(
            "the centre: tr_t(A) / n, mean over the profiles of the cluster", most=_TRACES
        ),
        "n": count("profiles that the centre is the mean of", "profiles"),
        "explained": share("share of the variance of profiles that the k centres explain"),
    },
    source="yamamoto-2023",
    declared=UNSTABLE_ARGMAX,
    version=2,
    requires=("relative_position_profile",),
    made_by=_clustered,
)
_BY_CLUSTER = (LAYER, HEAD, CLUSTER)
_SHARE = {"share": share("share of the texts in which the head is nearest to the centre")}
RELATIVE_POSITION_CLUSTER = Table(
    "relative_position_cluster",
    key=(K, *_BY_CLUSTER),
    values=_SHARE,
    source="yamamoto-2023",
    note="none of share 0",
    declared=UNSTABLE_ARGMAX,
    laws=("share > 0",),
    shown_as="relative_position_clustering",
    version=2,
    requires=("relative_position_profile", "relative_position_centre"),
    made_by=_head_clusters,
    views=(Part("relative_position_cluster", ("k",), "k = 6", "6 clusters"),),
)
SHOWN = 15
"""First tokens of a text whose attention is kept."""
EXEMPLAR_ATTENTION = Table(
    "exemplar_attention",
    key=(SEQ, LAYER, HEAD),
    values={
        "n": place("tokens shown, the first of the sequence", "tokens", least=1, most=SHOWN),
        "attention": numbers("α of every pair of these tokens, one query after the other"),
    },
    source="yamamoto-2023",
    note="the few sequences whose maps are kept",
    laws=(
        "len(attention) = n * n",
        "list_min(attention) >= 0",
        f"list_sum(attention) <= n * {_TRACES}",
    ),
)
PATCH_REACH = 7
"""Largest stored offset in rows and in columns, to either side."""
_BY_PATCH = (
    LAYER,
    HEAD,
    *(
        place(
            f"{of} of the key patch less {of} of the query patch; below 0: {where}",
            "patches",
            name=f"{of}_offset",
            least=-PATCH_REACH,
            most=PATCH_REACH,
        )
        for of, where in (("row", "above it"), ("column", "to the left"))
    ),
)
_N_IMAGES = {"n_images": count("images with a pair of patches of the offset", "images")}
PATCH_OFFSET = Table(
    "patch_offset",
    key=_BY_PATCH,
    values={
        **_N_IMAGES,
        "attention": share(
            "α summed over the pairs of the offset over the number of patches, summed over images",
            most="n_images * 1.001",  # α adds up to 1, but for rounding
            exact=True,
        ),
        "attention_per_pair": share(
            "mean α of the pairs of patches of the offset, summed over images",
            most="n_images * 1.001",
            exact=True,
        ),
    },
    source="yamamoto-2023",
    note="sums over images, none of texts",
    needs=(Need.IMAGES,),
    merge=added_up(
        "layer, head, row_offset, column_offset", "n_images", "attention", "attention_per_pair"
    ),
    views=(
        view(
            "patch_offset",
            _BY_PATCH,
            {
                **_N_IMAGES,
                "attention": share(
                    "part of a patch's attention that goes to the offset, mean over patches and "
                    "images"
                ),
                "attention_per_pair": share(
                    "mean α of the pairs of patches of the offset, mean over images"
                ),
            },
            note="means over images, none of texts",
            sql="""
            select * replace (attention / n_images as attention,
                attention_per_pair / n_images as attention_per_pair)
            from stored.patch_offset
            """,
        ),
    ),
)

# offsets that heads prefer, in attention and in scores

_MEANS = {
    "attention_offset": ("attention", "mean of tr_t(A)"),
    "score_offset": ("value", "mean of Σ_j s_j xcov_j(t)"),
    "attention_offset_per_pair": ("attention_per_pair", "mean α of a pair"),
    "score_offset_per_pair": ("value_per_pair", "mean score of a pair"),
    "score_offset_centred": (
        "value_centred",
        "mean of tr_t of scores less the mean of their row",
    ),
}
"""Columns of `query_key_correlation_mean` with the largest values, by the offsets of these."""


def _offsets_of_heads(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    heads = store.sql(
        """
        select layer, head, avg(dependence) as dependence
        from sequence_relative_position
        group by layer, head
        order by layer, head
        """
    ).df()
    near = f'where abs("offset") <= {REACH}'
    means = store.sql(f"from query_key_correlation_mean {near}").df()
    kernels = store.sql(f"from position_kernel {near}").df()
    for name, (quantity, _) in _MEANS.items():
        heads = heads.merge(_largest(means, quantity, name), on=["layer", "head"])
    kernel = _largest(kernels, "kernel", "kernel_offset").astype({"kernel_offset": "Int64"})
    return table.rows([heads.merge(kernel, on=["layer", "head"], how="left")])


def _largest(values: pd.DataFrame, quantity: str, name: str) -> pd.DataFrame:
    """Return every head with the offset of its largest value; it has none beyond its window."""
    wide = values.pivot(index=["layer", "head"], columns="offset", values=quantity)
    offsets = wide.columns.to_numpy().astype(np.int64)
    of_offsets = wide.fillna(-np.inf).to_numpy()
    preferred = preferred_offsets(of_offsets, offsets) if len(wide) else offsets
    return wide.index.to_frame(index=False).assign(**{name: preferred})


def _preferred(meaning: str, null: str = "") -> Column:
    meaning = f"offset within ±{REACH} with the largest {meaning}"
    return place(meaning, "tokens", least=-REACH, most=REACH, null=null)


HEAD_OFFSET = Table(
    "head_offset",
    key=(LAYER, HEAD),
    values={
        "dependence": share(
            "η²: share of the variance of α that the offset explains, mean over the texts where α "
            "varies",
            null="if it varies in none",
        ),
        **{name: _preferred(meaning) for name, (_, meaning) in _MEANS.items()},
        "kernel_offset": _preferred("score by position alone", "where no score knows an offset"),
    },
    source="yamamoto-2023",
    needs=(Need.OFFSETS,),
    version=3,
    requires=("relative_position_profile", "query_key_correlation", "position_kernel"),
    made_by=_offsets_of_heads,
)
KERNEL = "kernel"
COUNTINGS = {
    "sum": ("score_offset", "attention_offset"),
    "per_pair": ("score_offset_per_pair", "attention_offset_per_pair"),
    "centred": ("score_offset_centred", "attention_offset"),
    KERNEL: ("kernel_offset", "attention_offset_per_pair"),
}
"""Ways of counting offsets, and the columns of `head_offset` that each compares."""
MIN_DEPENDENCES = (0.0, 0.05, 0.1, 0.25, 0.5)


def countings(*, with_kernels: bool) -> list[str]:
    """Ways of counting, with that of kernels first where scores have a term for the offset."""
    others = [counting for counting in COUNTINGS if counting != KERNEL]
    return [KERNEL, *others] if with_kernels else others


def _agreements(table: Table, store: DuckDBPyConnection, context: FitContext) -> pa.Table:
    """Return rows of each way of counting, least dependence, and layer or all, with two heads or
    more."""
    heads = store.sql("from head_offset order by layer, head").df()
    layers: list[int | None] = [*sorted(set(heads["layer"].tolist())), None]
    rows = []
    for (counting, columns), least, layer in product(COUNTINGS.items(), MIN_DEPENDENCES, layers):
        chosen = heads[heads["dependence"] >= least].dropna(subset=list(columns))
        chosen = chosen if layer is None else chosen[chosen["layer"] == layer]
        if len(chosen) >= 2:
            at = {"counting": counting, "min_dependence": least, "layer": layer}
            rows.append(at | _agreement(chosen, columns, context.seed))
    return table.rows([pd.DataFrame(rows)] if rows else [])


def _agreement(heads: pd.DataFrame, columns: tuple[str, str], seed: int) -> dict[str, float]:
    scores, attention = (heads[name].to_numpy().astype("int64") for name in columns)
    values = {"n_heads": len(heads), "chance": chance_agreement(scores, attention)}
    of_ranks = rank_correlation(scores, attention, seed=seed)
    estimates = {"agreement": same_offset(scores, attention, seed=seed), "spearman": of_ranks}
    for name, estimate in estimates.items():
        ends = {f"{name}_low": estimate.low, f"{name}_high": estimate.high}
        values |= {name: estimate.value} | ends
    if not np.isnan(of_ranks.value):
        of_layers = layer_parts(scores, attention, heads["layer"].to_numpy("int64"), seed=seed)
        values |= values_of_parts(OF_HEADS, of_layers)
    return values


OFFSET_AGREEMENT = Table(
    "offset_agreement",
    key=(
        text(
            "sum (over all pairs of an offset), per_pair, centred (sums of scores less their row's "
            "mean) or kernel (scores by position alone, of models that turn queries and keys)",
            "name",
            name="counting",
        ),
        number("heads with a lower η² are left out", "share", name="min_dependence"),
        pooled(LAYER),
    ),
    values={
        "n_heads": count("heads compared", "heads", least=2),
        "agreement": share("share of the heads whose scores and attention prefer the same offset"),
        **interval("share", of="agreement"),
        "chance": share("agreement to expect if offsets were dealt to the heads at random"),
        "spearman": correlation(
            "Spearman's ρ of the two offsets over heads", null="where either is the same for all"
        ),
        **interval("ρ", of="spearman"),
        **parts(OF_HEADS),
    },
    source="yamamoto-2023",
    needs=(Need.OFFSETS,),
    laws=("spearman is not null or spearman_low is null", *laws_of_parts(OF_HEADS)),
    version=4,
    requires=("head_offset",),
    made_by=_agreements,
)

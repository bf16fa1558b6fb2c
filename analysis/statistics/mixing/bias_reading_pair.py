"""Change of pairs of tokens by the feed-forward network under each reading of the bias."""

from analysis.needs import Need, Setting
from analysis.scopes import BIAS_READINGS
from analysis.statistics.columns import single
from analysis.statistics.pairs.pair import OCCURRENCES, SOURCE, TARGET
from analysis.statistics.table import LAYER, Table

_MEANS = tuple(
    single(reading, f"mean change of the share of w_j in w_i, bias {how}")
    for reading, how in zip(
        BIAS_READINGS, ("as a summand", "held constant", "left out"), strict=True
    )
)
TABLE = Table(
    name="bias_reading_pair",
    grain="one row per layer and ordered pair of tokens that occurs twice in compared sequences",
    key=(LAYER, SOURCE, TARGET),
    values=(OCCURRENCES, *_MEANS),
    source="sundararajan-2017",
    needs=(Need.PAIRS,),
    laws=("n >= 2", *(f"{column.name} between -1 - 1e-6 and 1 + 1e-6" for column in _MEANS)),
    merge="""
        select layer, source, target, count(*)::integer as n, favg(player::double)::float as player,
            favg(constant::double)::float as constant, favg(left_out::double)::float as left_out
        from shards
        group by layer, source, target
        having count(*) >= 2
    """,
    raw=(LAYER, SOURCE, TARGET, *_MEANS),
    piece="layer",
    depends_on=(Setting.GATE_RULE,),
)

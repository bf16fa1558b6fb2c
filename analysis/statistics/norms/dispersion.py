"""Columns of the papers' measures of variation."""

from analysis.statistics.columns import count, number

DISPERSION = (
    count("n", "tokens, or tokens times heads where heads are pooled", "tokens"),
    number("mean", "mean", "stream length"),
    number("std", "population standard deviation", "stream length"),
    number("cv", "coefficient of variation, std / mean", "ratio", nullable=True),
    number("min", "smallest", "stream length"),
    number("max", "largest", "stream length"),
)
DISPERSION_LAWS = ("n > 0", "std >= 0", "min <= mean * (1 + 1e-9)", "mean <= max * (1 + 1e-9)")


def dispersion_query(column: str, *, source: str, key: str) -> str:
    """The dispersion of a column of a view, per key and over everything pooled."""
    return f"""
        select
            {key},
            count(*) as n,
            avg({column}::double) as mean,
            stddev_pop({column}::double) as std,
            std / nullif(mean, 0) as cv,
            min({column})::double as min,
            max({column})::double as max
        from {source}
        group by grouping sets (({key}), ())
        order by {key}
    """

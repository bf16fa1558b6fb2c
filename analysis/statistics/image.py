"""The images of a corpus as the model read them."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.base.columns import SEQ, Column, numbers, place, text, whole
from analysis.statistics.base.tables import Table
from analysis.statistics.question import asks

_SIZE = "of the image in the file, as it is shown"
TABLE = Table(
    "image",
    key=(SEQ,),
    note="of a corpus of images",
    values={
        "name": text("name of the file", least=1),
        "width": whole(f"width {_SIZE}", "pixels", least=1),
        "height": whole(f"height {_SIZE}", "pixels", least=1),
        "grid_rows": place("rows of patches", "patches", least=1),
        "grid_columns": place("columns of patches", "patches", least=1),
        "first_patch": place("position of the first patch"),
        "picture": Column(
            "what the model sees, resized and cropped",
            "PNG",
            type=pa.binary(),
            null="where no map is kept",
        ),
        "coverage": numbers(
            "the part of each patch that lies inside the mask, NaN where the mask does not tell",
            null="without a mask",
        ),
    },
    source="sawaki-2025",
    laws=(
        "picture is null or octet_length(picture) > 0",
        "coverage is null or len(coverage) = grid_rows * grid_columns",
        "coverage is null or len(list_filter(coverage, lambda each: not isnan(each))) > 0",
        "coverage is null or list_bool_and(list_transform(coverage, "
        "lambda each: isnan(each) or each between 0 and 1))",
    ),
)


@asks("""
    select seq, name, picture is not null as kept, coverage is not null as has_mask
    from image order by seq
""")
def images(store: DuckDBPyConnection) -> pd.DataFrame:
    """Every image: seq, name, kept (True if its picture and maps are stored), has_mask."""
    ...


@asks("from image where seq = $seq")
def image(store: DuckDBPyConnection, *, seq: int) -> pd.DataFrame:
    """One image: all columns of the table, in one row or none."""
    ...


@asks("""
    select
        any_value(grid_rows)::int as rows,
        any_value(grid_columns)::int as columns,
        (
            select coalesce(list(token order by pos), [])
            from token
            where pos < any_value(first_patch) and seq = min(image.seq)
        ) as special,
        count(*)::int as n_images,
        count(coverage)::int as n_masks
    from image
    having count(*) > 0
""")
def grid(store: DuckDBPyConnection) -> pd.DataFrame:
    """Grid of patches of all images: rows, columns, special (names of the tokens before the
    patches, in order), n_images, n_masks (images with a mask); no row without images."""
    ...


@asks("""
    select seq, name, picture from image
    where picture is not null
    order by seq
    limit $limit
""")
def pictures(store: DuckDBPyConnection, *, limit: int) -> pd.DataFrame:
    """The first stored images: seq, name, picture (a PNG file)."""
    ...

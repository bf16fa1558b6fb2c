"""The images of a corpus as the model read them."""

import pandas as pd
import pyarrow as pa
from duckdb import DuckDBPyConnection

from analysis.statistics.columns import singles, small, text, whole
from analysis.statistics.question import asks
from analysis.statistics.table import SEQUENCE, Column, Table

TABLE = Table(
    name="image",
    grain="one row per image, of a corpus of images",
    key=(SEQUENCE,),
    values=(
        text("name", "name of the file"),
        whole("width", "width of the image in the file, as it is shown", "pixels"),
        whole("height", "height of the image in the file, as it is shown", "pixels"),
        small("grid_rows", "rows of patches", "patches"),
        small("grid_columns", "columns of patches", "patches"),
        small("first_patch", "position of the first patch"),
        Column(
            "picture",
            pa.binary(),
            "what the model sees, resized and cropped; NULL where no map is kept",
            "PNG",
            nullable=True,
        ),
        singles(
            "coverage",
            "the part of each patch that lies inside the mask, NaN where the mask does not tell; "
            "NULL without a mask",
            nullable=True,
        ),
    ),
    source="sawaki-2025",
    laws=(
        "width > 0 and height > 0",
        "length(name) > 0",
        "grid_rows > 0 and grid_columns > 0 and first_patch >= 0",
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

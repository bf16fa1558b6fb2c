"""The images of a corpus, into the store."""

from collections.abc import Iterator
from itertools import islice

import pyarrow as pa

from analysis.statistics.image import TABLE
from precompute.corpora.images.image_reader import ImageReader
from precompute.corpora.images.pictures import png
from precompute.corpora.sequence import Sequence
from precompute.jobs.plan import Plan

BATCH = 64


def image_rows(plan: Plan) -> Iterator[pa.Table]:
    """Yield the rows of `image`, a few at a time, since pictures are large; none for texts.

    Raises:
        BadCorpus: an image has changed since the run.
    """
    if plan.images is None:
        return
    sequences = iter(plan.corpus)
    while some := list(islice(sequences, BATCH)):
        rows = [_row(sequence, plan.images, plan) for sequence in some]
        yield pa.Table.from_pylist(rows, schema=TABLE.schema)


def _row(sequence: Sequence, reader: ImageReader, plan: Plan) -> dict:
    picture = sequence.picture
    coverage = reader.coverage(picture)
    return {
        "seq": sequence.index,
        "name": picture.name,
        "width": picture.width,
        "height": picture.height,
        "grid_rows": reader.layout.rows,
        "grid_columns": reader.layout.columns,
        "first_patch": len(reader.layout.special),
        "picture": png(reader.shown(picture)) if sequence.index in plan.kept else None,
        "coverage": None if coverage is None else coverage.tolist(),
    }

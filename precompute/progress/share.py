"""Share of a batch that is done, from watching how its tables are filled."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

from precompute.passes.filling import Watch


def sharing(
    n_tables: int,
    n_layers: int,
    on_share: Callable[[float], object],
    clock: Callable[[], float] = time.perf_counter,
) -> Watch:
    """Return a watch of `rows_of_batch` that reports the share of the work that is done.

    Layers count alike, and the rows at the end are a layer more. Within one each table counts what
    it has cost in those before.

    Args:
        clock: returns seconds.
    """
    costs, known, steps = [0.0] * n_tables, [0.0] * n_tables, count()

    @contextmanager
    def watch(_: str) -> Iterator[None]:
        layer, table = divmod(next(steps), n_tables)
        if table == 0:
            known[:] = costs
        started = clock()
        yield
        costs[table] += clock() - started
        within = sum(known[: table + 1]) / (sum(known) or 1)
        on_share((layer + within) / (n_layers + 1))

    return watch

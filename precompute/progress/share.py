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
    again: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[Watch, Callable[[float], object]]:
    """Return a watch of `rows_of_batch`, and what is told the share of texts that is run again.

    Both report the share of the work that is done. Layers count alike, and the rows at the end are
    a layer more. Within one each table counts what it has cost in those before.

    Args:
        again: layers that running texts again counts for, at the end.
        clock: returns seconds.
    """
    costs, known, steps = [0.0] * n_tables, [0.0] * n_tables, count()
    done, total = {"layers": 0.0, "again": 0.0}, n_layers + 1 + again

    def advance(kind: str, n: float) -> None:
        done[kind] = n
        on_share(sum(done.values()) / total)

    @contextmanager
    def watch(_: str) -> Iterator[None]:
        layer, table = divmod(next(steps), n_tables)
        if table == 0:
            known[:] = costs
        started = clock()
        yield
        costs[table] += clock() - started
        within = sum(known[: table + 1]) / (sum(known) or 1)
        advance("layers", layer + within)

    return watch, lambda share: advance("again", share * again)

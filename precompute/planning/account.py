"""Plan of a run as lines of text: its size, its costs, and what could be left out."""

from collections.abc import Iterator

from rich.filesize import decimal

from analysis.contracts import groups
from precompute.jobs.plan import Plan
from precompute.planning.choice import chosen_statistics
from precompute.planning.costs import Cost, Estimate, estimated
from precompute.planning.summary import summary
from precompute.progress.events import OnEvent
from precompute.request import Request
from precompute.run import planned

_DEAREST = 3


def account(request: Request, on_event: OnEvent) -> Iterator[str]:
    """Yield what a run of a request is about and what it will cost.

    Args:
        on_event: receives the stages of finding out.

    Raises:
        UserError: for any error that the user can correct.
    """
    plan, model = planned(request, on_event)
    yield from summary(plan)
    estimate = estimated(plan, model, on_event)
    yield ""
    yield from _costs(plan, estimate)
    yield ""
    yield from _shared(plan)
    yield from _to_leave_out(plan, estimate)


def _costs(plan: Plan, estimate: Estimate) -> Iterator[str]:
    """Yield a row for each group, what no group has, and the sum."""
    yield _row("", "statistics", "processor time", "memory", "file")
    for group, cost in estimate.of_groups().items():
        n_statistics = len({*groups()[group]} & {*plan.statistics})
        yield _row(group, str(n_statistics), *_columns(cost))
    yield _row("start", "", *_columns(estimate.start))
    yield _row("forward passes", "", *_columns(estimate.passes))
    yield _row("corpus and file", "", *_columns(estimate.file))
    yield _row("all", str(len(plan.statistics)), *_columns(estimate.total))


def _row(name: str, n: str, seconds: str, memory: str, size: str) -> str:
    return f"{name:<16}{n:>11}{seconds:>16}{memory:>10}{size:>10}".rstrip()


def _columns(cost: Cost) -> tuple[str, str, str]:
    memory, size = (decimal(n) if n else "" for n in (cost.memory, cost.bytes))
    return duration(cost.seconds), memory, size


def duration(seconds: float) -> str:
    """Return a duration in its two largest units."""
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 1 else "< 1 s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _shared(plan: Plan) -> Iterator[str]:
    """Yield a sentence on every table whose filling others share."""
    tables = [table for table in plan.passes if table.of_layers]
    for table in tables:
        if users := [other.name for other in tables if table.name in other.requires]:
            yield f"{table.name} counts what {len(users)} more share: {', '.join(users)}."


def _to_leave_out(plan: Plan, estimate: Estimate) -> Iterator[str]:
    """Yield a sentence on each of the dearest groups, with what leaving it out saves."""
    savings = {group: estimate.of(_goes_with(plan, group)) for group in estimate.of_groups()}
    dearest = sorted(savings, key=lambda group: savings[group].seconds, reverse=True)
    for group in dearest[:_DEAREST]:
        cost = savings[group]
        yield (
            f"--statistics -{group} would save {duration(cost.seconds)} and "
            f"{decimal(cost.bytes)}, with what is made from it."
        )


def _goes_with(plan: Plan, group: str) -> tuple[str, ...]:
    """Return the statistics that a run without a group would lack."""
    kept = chosen_statistics([f"-{group}"])
    return tuple(name for name in plan.statistics if name not in kept)

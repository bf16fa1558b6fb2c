"""Plan of a run in short, from what is known without running the model."""

from collections.abc import Iterator

from analysis.contracts import ALL, CHECKS, groups
from precompute.jobs.plan import Plan
from precompute.planning.choice import of_texts_run_again


def summary(plan: Plan) -> Iterator[str]:
    """Yield the size of the corpus, the number of statistics by group, and what is done."""
    form = plan.corpus.form and f", read as {plan.corpus.form}"
    yield f"{len(plan.corpus):,} sequences, {plan.corpus.n_tokens:,} tokens{form}"
    by_group = {group: len({*names} & {*plan.statistics}) for group, names in groups().items()}
    there = [f"{group} {n}" for group, n in by_group.items() if n and group != ALL]
    yield f"{len(plan.statistics)} statistics: {', '.join(there)}"
    if by_group[CHECKS]:
        yield (
            f"checks read {len(plan.checked):,} of {len(plan.corpus):,} sequences; "
            "--check-sequences sets how many"
        )
    if plan.left_out:
        yield (
            "no sequence is run again without each head, which would take more than a tenth of "
            f"the run: {', '.join(plan.left_out)} are left out; "
            f"--check-sequences {len(plan.checked)} adds them"
        )
    elif of_texts_run_again(plan.statistics):
        yield f"{len(plan.run_again):,} of these are run again without each head"
    jobs = range(len(plan.corpus.job_sizes))
    if done := sum(not plan.missing(job) for job in jobs):
        yield f"done before: {done} of {len(jobs)} parts of the corpus"

"""Summary that a run prints at its start: what it reads, computes and leaves out, and where."""

from collections.abc import Iterator

from analysis.contracts import ALL, CHECKS, groups
from precompute.choice import of_texts_run_again
from precompute.jobs.plan import Plan
from precompute.models.loaded_model import LoadedModel
from precompute.needs import empty_statistics


def summary(plan: Plan, model: LoadedModel) -> Iterator[str]:
    """Yield the model, the corpus, the statistics, what is left out and why, and what is done."""
    n_heads = len(model.layers[0].query_weight)
    yield f"{model.name}: {model.family}, {len(model.layers)} layers of {n_heads} heads"
    corpus = plan.corpus
    form = corpus.form and f", read as {corpus.form}"
    yield f"{corpus.name}: {len(corpus):,} sequences, {corpus.n_tokens:,} tokens{form}"
    by_group = {group: len({*names} & {*plan.statistics}) for group, names in groups().items()}
    there = [f"{group} {n}" for group, n in by_group.items() if n and group != ALL]
    yield f"{len(plan.statistics)} statistics: {', '.join(there)}"
    if corpus.is_images:
        yield "left out: statistics of texts and words, of which images have none"
    for reason, names in empty_statistics(plan.statistics, corpus, model).items():
        yield f"empty, for want of {reason}: {', '.join(names)}"
    if by_group[CHECKS]:
        yield (
            f"checks read {len(plan.checked):,} of {len(corpus):,} sequences; "
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
    jobs = range(len(corpus.job_sizes))
    done = sum(not plan.missing(job) for job in jobs)
    yield f"{len(jobs)} jobs, {done} done before; shards: {plan.folder}"

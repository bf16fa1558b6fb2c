"""One run from its request to the finished file."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

import duckdb
import torch

from analysis.errors import UserError
from analysis.foreign_file import Locked
from analysis.statistics.corpus import Identity, identity_in, provenance
from analysis.statistics.corpus import run as stored_run
from analysis.statistics.question import quoted_files
from precompute import SHARDS, needs
from precompute.corpora import word_files
from precompute.corpora.images.images import read_digit_images, read_images
from precompute.corpora.index.corpus import Corpus, Reading, indexed
from precompute.corpora.load import read_corpus
from precompute.corpora.source import DEMO_DIGITS
from precompute.corpora.wording import path_as_given
from precompute.jobs.plan import (
    LEAST_CHECKED,
    Facts,
    Plan,
    again_within_budget,
    checked_within_budget,
    cost_of_again,
    kept_sequences,
)
from precompute.jobs.runner import Runner, finish_plan, reporting_shortage
from precompute.jobs.shards import claimed, remove_unfinished
from precompute.models.identity import differences
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.needs import chosen_statistics, in_order, named_statistics, of_texts_run_again
from precompute.passes import STATISTICS
from precompute.progress import Made, OnEvent, ignore
from precompute.request import Request, image_corpus_name
from precompute.store.build import build, checked_facts, identity, provenance_facts, run_row
from precompute.store.show import opened

_OF_FOLDERS, _OF_PATHS = re.compile(r"\?"), re.compile(r"[\\\ud800-\udfff]")
"""Names that DuckDB misreads: `?` in a folder begins parameters, a backslash is a slash, and bytes
outside of UTF-8 are lost."""


def run(request: Request, runner: Runner, on_event: OnEvent = ignore) -> Plan:
    """Compute all missing parts and publish the file; return the plan."""
    with reporting_shortage(request.output):
        chosen_statistics(request.statistics)
        if request.until is not None:
            check_intervals(named_statistics(request.statistics))
        _assert_writable(request.output)
        request = replace(request, output=request.output.absolute())  # `~` and `md:` are names
        with claimed(request.output, repr(request)) as assert_claimed:
            return _run(request, runner, assert_claimed, on_event)


def _loaded(request: Request, on_event: OnEvent = ignore) -> LoadedModel:
    """Load the model, say how it is read, and check that it fits the request."""
    names = ("device", "dtype", "segments", "random_weights", "part")
    settings: Any = {name: getattr(request, name) for name in names}
    model = load_model(request.model, on_event=on_event, **settings)
    if model.random_weights is not None:
        print(f"Untrained: weights drawn anew with seed {model.random_weights}.")
    if model.part is not None:
        print(f"Part of the model that is read: {model.part}.")
    if others := model.reading.without_attention:
        shown = ", ".join(f"{number} ({name})" for number, name in others.items())
        print(f"Layers without attention, of which nothing is measured: {shown}.")
    if model.not_read:
        print(f"Modules after the Transformer, which are not read: {', '.join(model.not_read)}.")
    if model.settings_not_read:
        names = ", ".join(model.settings_not_read)
        print(f"Settings of config.json that no part of the model reads: {names}.")
    if model.overruled_tokenizer:
        print(
            "Texts are read as tokenizer.json says, and otherwise than by "
            f"{model.overruled_tokenizer}, which the library takes for this model."
        )
    able = torch.cpu.get_capabilities()
    has_bfloat16 = any(able.get(feature) for feature in ("avx512_bf16", "amx_bf16", "bf16"))
    if model.dtype == "bfloat16" and model.device == "cpu" and not has_bfloat16:
        print("This processor has no bfloat16 arithmetic: float32 is faster here, and more exact.")
    if model.images is not None and model.images.interpolation:
        print(f"Positions: {model.images.interpolation} by the model itself.")
    needs.check_model(named_statistics(request.statistics), model)
    needs.check_length(request.max_tokens, model)
    needs.check_segments(model)
    return model


def _run(
    request: Request, runner: Runner, assert_claimed: Callable[[], None], on_event: OnEvent
) -> Plan:
    model = _loaded(request, on_event)
    remove_unfinished(request.output.parent)
    plan, stopped = _finished(request, model, runner, on_event)
    facts = provenance_facts(request, model, plan.corpus) | checked_facts(plan) | stopped
    row = run_row(request, model, plan)
    build(plan, request.output, row, facts, before_publishing=assert_claimed, on_event=on_event)
    corpus = plan.corpus
    on_event(Made(request.output, len(corpus), corpus.n_tokens, len(plan.passes)))
    return plan


def _finished(
    request: Request, model: LoadedModel, runner: Runner, on_event: OnEvent
) -> tuple[Plan, dict[str, str]]:
    """Finish a plan and return it with the file's facts on stopping.

    With --until each round reads twice as many sequences as the one before, from the first on. So
    its file equals that of a run with this limit.
    """
    if request.until is None:
        return _finished_plan(request, model, runner, on_event), {"until": "none"}
    limit = FIRST
    while True:
        most = limit if request.limit is None else min(limit, request.limit)
        plan = _finished_plan(replace(request, limit=most), model, runner, on_event)
        width, name = widest_interval(plan, named_statistics(request.statistics))
        widest, n_read = name and f"{width:.4g} ({name})", len(plan.corpus)
        print(f"{n_read} sequences: the widest interval is {widest or 'not known yet'}.")
        if n_read < limit or (name and width <= request.until):
            facts = {"until": f"{request.until:g}", "widest_interval": widest or "none"}
            return plan, facts | {"limit": str(n_read)}
        limit *= 2


def _finished_plan(request: Request, model: LoadedModel, runner: Runner, on_event: OnEvent) -> Plan:
    corpus = indexed(_reading(request, model), request.output.parent / SHARDS, on_event)
    needs.check_corpus(named_statistics(request.statistics), corpus)
    needs.check_known(corpus, model)
    plan = _plan(request, model, corpus)
    print("\n".join(needs.summary(plan, model)), flush=True)
    finish_plan(plan, model, runner, on_event)
    return plan


def _assert_writable(output: Path) -> None:
    if output.is_dir():
        raise UserError(f"{output} is a folder. Give --output a file name such as bert.duckdb.")
    if output.suffix != ".duckdb":
        raise UserError(
            f"{output} does not end in .duckdb, so the dashboard would not find it. "
            f"Give --output {output.with_suffix('.duckdb')}"
        )
    path = output.absolute()
    if misread := _misread(path):
        raise UserError(
            f"{path_as_given(path)} holds {misread!r}, which DuckDB does not take as a letter. "
            "Give --output a path without it."
        )


def _misread(path: PurePath) -> str:
    """Return a letter of a path that DuckDB misreads; a separator of Windows is none."""
    folder, whole = path.parent.as_posix(), path.as_posix()
    found = _OF_FOLDERS.search(folder) or _OF_PATHS.search(whole)
    return found[0] if found else ""


def _reading(request: Request, model: LoadedModel) -> Reading:
    if model.images is not None:
        name = image_corpus_name(request)
        if name == DEMO_DIGITS:
            return read_digit_images(model.images, limit=request.limit)
        return read_images(name, model.images, limit=request.limit)
    names = ("max_tokens", "limit", "mask_rate", "seed", "packing", "column")
    settings: Any = {name: getattr(request, name) for name in names}
    return read_corpus(
        request.corpus,
        model.tokenizer,
        positions=model.positions,
        segment_types=model.segment_types,
        is_causal=model.layers[0].is_causal,
        **settings,
    )


def _plan(request: Request, model: LoadedModel, corpus: Corpus) -> Plan:
    frequencies = None
    if request.frequencies:
        vocabulary = model.model.config.vocab_size
        frequencies = word_files.read_frequencies(request.frequencies, vocabulary=vocabulary)
    held = _statistics_already_in(request, identity(request, model, corpus), model.identity)
    names = in_order({*chosen_statistics(request.statistics), *held})
    n_layers, n_heads = len(model.layers), len(model.layers[0].query_weight)
    n_checked = request.check_sequences or checked_within_budget(len(corpus))
    n_again = request.check_sequences or again_within_budget(
        len(corpus), n_layers=n_layers, n_heads=n_heads
    )
    if of_texts_run_again(in_order({*named_statistics(request.statistics), *held})):
        n_again = max(n_again, LEAST_CHECKED)
    left_out = () if n_again else of_texts_run_again(names)
    order, drawn = model.layers[0].order, request.random_weights
    loaded = (request.segments, drawn, model.part)
    facts = Facts(model.identity, request.dtype, request.seed, order, *loaded)
    return Plan(
        folder=request.output.parent / SHARDS,
        facts=facts,
        corpus=corpus,
        statistics=tuple(needs.allowed((name for name in names if name not in left_out), corpus)),
        frequencies=frequencies,
        word_vectors=_word_vectors(request, corpus),
        hidden_budget=request.pair_memory * 2**20,
        kept=kept_sequences(corpus, n_layers=n_layers, n_heads=n_heads),
        images=model.images,
        bounds=request.bounds,
        n_checked=n_checked,
        n_again=n_again,
        cost_of_again=cost_of_again(n_layers=n_layers, n_heads=n_heads),
        left_out=left_out,
    )


def _word_vectors(request: Request, corpus: Corpus) -> word_files.WordVectors | None:
    if request.word_vectors is None:
        return None
    forms = corpus.forms()
    if not forms:
        raise UserError(
            f"--word-vectors is for corpora whose words are annotated, and {corpus.name} is plain "
            "text. Leave it out, or give a CoNLL-U file as --corpus."
        )
    return word_files.read_word_vectors(request.word_vectors, forms)


def _statistics_already_in(request: Request, run_identity: dict, model: Identity) -> list[str]:
    """Return a file's statistics, to keep them when others of the same run are added."""
    if not request.output.exists():
        return []
    try:
        with opened(request.output) as store:
            row = stored_run(store)
            facts = provenance(store)
    except Locked:
        raise
    except (UserError, duckdb.Error):
        return []
    if (there := identity_in(facts)) != model:
        print(f"The file is of another model ({differences(model, there)}); nothing of it is kept.")
        return []
    same = facts.get("segments", request.segments) == request.segments
    same &= facts.get("column", Request.column) == request.column
    same &= all(row[name] == value for name, value in run_identity.items())
    known = chosen_statistics(None)
    return [name for name in row["statistics"] if name in known] if same else []


FIRST = 128
"""Number of sequences in the first round of a run with --until; each later round doubles it."""


def check_intervals(statistics: list[str]) -> None:
    """Raise UserError if a run cannot stop by the intervals of these statistics."""
    if not statistics:
        raise UserError(
            "--until needs --statistics: name those whose intervals decide, such as "
            "token_type_mixing."
        )
    if without := [name for name in statistics if not _has_interval(name)]:
        known = ", ".join(name for name in STATISTICS if _has_interval(name))
        raise UserError(
            f"--until goes by 95% intervals, and {without[0]} has none. Name some of: {known}."
        )


def widest_interval(plan: Plan, statistics: list[str]) -> tuple[float, str]:
    """Return the widest 95% interval in the finished tables of a plan, and its statistic; without a
    name if no row has one yet."""
    widest = (0.0, "")
    for name in statistics:
        file = quoted_files(str(plan.table_file(STATISTICS[name])))
        with duckdb.connect() as store:
            [(width,)] = store.sql(f"select max(high - low) from read_parquet({file})").fetchall()
        widest = widest if width is None else max(widest, (width, name))
    return widest


def _has_interval(name: str) -> bool:
    return {"low", "high"} <= {column.name for column in STATISTICS[name].columns}

"""One run from its request to the finished file."""

import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import duckdb
import torch

from analysis.errors import UserError
from analysis.tables import SCHEMA_VERSION
from analysis.tables.corpus import provenance
from analysis.tables.corpus import run as stored_run
from precompute import __version__
from precompute.corpora.frequencies import Frequencies, read_frequencies
from precompute.corpora.images.digits import read_digit_images
from precompute.corpora.images.images import read_images
from precompute.corpora.index.corpus import Corpus
from precompute.corpora.index.write import indexed
from precompute.corpora.load import read_corpus
from precompute.corpora.reading import Reading
from precompute.corpora.source import DEMO_DIGITS
from precompute.corpora.word_vectors import WordVectors, read_word_vectors
from precompute.jobs.note import noting
from precompute.jobs.plan import Facts, Plan, chosen_statistics, kept_sequences
from precompute.jobs.runner import Runner, finish_plan
from precompute.jobs.shards import remove_unfinished
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.needs import allowed, check_corpus, check_model
from precompute.request import Request, check_segments, image_corpus_name
from precompute.store.build import build
from precompute.store.open_file import opened

SHARDS = ".shards"
_PACKAGES = ("torch", "transformers", "tokenizers", "pillow", "duckdb", "numpy", "scipy", "pyarrow")


def run(request: Request, runner: Runner) -> Plan:
    """Compute what is missing and publish the file; returns the plan that was carried out.

    Raises:
        UserError: whatever the user can put right.
    """
    chosen_statistics(request.statistics)  # a misspelt name fails before anything is loaded
    _assert_writable(request.output)
    model = load_model(
        request.model,
        device=request.device,
        dtype=request.dtype,
        segments=request.segments,
        random_weights=request.random_weights,
    )
    if model.random_weights is not None:
        print(f"Untrained: weights drawn anew with seed {model.random_weights}.")
    if _is_imitated(model):
        print("This processor has no bfloat16 arithmetic: float32 is faster here, and more exact.")
    if model.images is not None and model.images.interpolation:
        print(f"Positions: {model.images.interpolation} by the model itself.")
    shards = request.output.parent / SHARDS
    remove_unfinished(request.output, shards)
    check_model(request.statistics or (), model)
    check_segments(model)
    corpus = indexed(_reading(request, model), shards)
    check_corpus(request.statistics or (), corpus)
    plan = _plan(request, model, corpus)
    facts = _provenance(request, model, corpus)
    with noting(request.output, runner) as noted:
        finish_plan(plan, model, noted)
        build(plan, request.output, _run_row(request, model, plan), facts)
    return plan


def _is_imitated(model: LoadedModel) -> bool:
    """Whether the processor has no arithmetic of its own for the number format."""
    able = torch.cpu.get_capabilities()
    has_it = any(able.get(each) for each in ("avx512_bf16", "amx_bf16", "bf16"))
    return model.dtype == "bfloat16" and model.device == "cpu" and not has_it


def _assert_writable(output: Path) -> None:
    if output.is_dir():
        raise UserError(f"{output} is a folder. Give --output a file name such as bert.duckdb.")
    if output.suffix != ".duckdb":
        raise UserError(
            f"{output} does not end in .duckdb, so the dashboard would not find it. "
            f"Give --output {output.with_suffix('.duckdb')}"
        )


def _reading(request: Request, model: LoadedModel) -> Reading:
    if model.images is not None:
        name = image_corpus_name(request)
        if name == DEMO_DIGITS:
            return read_digit_images(model.images, limit=request.limit)
        return read_images(name, model.images, limit=request.limit)
    return read_corpus(
        request.corpus,
        model.tokenizer,
        positions=model.positions,
        segment_types=model.segment_types,
        max_tokens=request.max_tokens,
        limit=request.limit,
        mask_rate=request.mask_rate,
        seed=request.seed,
        packing=request.packing,
    )


def _plan(request: Request, model: LoadedModel, corpus: Corpus) -> Plan:
    frequencies: Frequencies | None = None
    if request.frequencies:
        vocabulary = model.model.config.vocab_size
        frequencies = read_frequencies(request.frequencies, vocabulary=vocabulary)
    names = request.statistics
    if names is not None:
        identity = _identity(request, model, corpus)
        names = names + _statistics_already_in(request.output, identity, request.segments)
    return Plan(
        folder=request.output.parent / SHARDS,
        facts=Facts(
            model.weights_sha256,
            request.dtype,
            request.seed,
            model.layers[0].order,
            request.segments,
            request.random_weights,
        ),
        corpus=corpus,
        statistics=tuple(allowed(chosen_statistics(names), corpus)),
        frequencies=frequencies,
        word_vectors=_word_vectors(request, corpus),
        hidden_budget=request.pair_memory * 2**20,
        kept=kept_sequences(
            corpus, n_layers=len(model.layers), n_heads=len(model.layers[0].query_weight)
        ),
        images=model.images,
    )


def _word_vectors(request: Request, corpus: Corpus) -> WordVectors | None:
    if request.word_vectors is None:
        return None
    forms = corpus.forms()
    if not forms:
        raise UserError(
            f"--word-vectors is for corpora whose words are annotated, and {corpus.name} is plain "
            "text. Leave it out, or give a CoNLL-U file as --corpus."
        )
    return read_word_vectors(request.word_vectors, forms)


def _identity(request: Request, model: LoadedModel, corpus: Corpus) -> dict:
    return {
        "revision": model.revision,
        "corpus_sha256": corpus.sha256,
        "n_sequences": len(corpus),
        "n_tokens": corpus.n_tokens,
        "mask_rate": request.mask_rate,
        "seed": request.seed,
        "dtype": request.dtype,
    }


def _statistics_already_in(output: Path, identity: dict, segments: str) -> list[str]:
    """What a file of the same model, corpus and settings holds, so that adding loses nothing."""
    if not output.exists():
        return []
    try:
        with opened(output) as store:
            row = stored_run(store)
            facts = provenance(store).set_index("name")["value"]
    except (UserError, duckdb.Error):
        return []
    same = facts.get("segments", segments) == segments
    same &= all(row[name] == value for name, value in identity.items())
    known = chosen_statistics(None)
    return [name for name in row["statistics"] if name in known] if same else []


def _run_row(request: Request, model: LoadedModel, plan: Plan) -> dict:
    config = model.model.config
    return {
        **_identity(request, model, plan.corpus),
        "model": request.model,
        "family": model.family,
        "n_layers": config.num_hidden_layers,
        "n_heads": config.num_attention_heads,
        "hidden_size": config.hidden_size,
        "corpus": plan.corpus.name,
        "device": model.device,
        "statistics": list(plan.statistics),
        "created_at": datetime.now(UTC).replace(microsecond=0, tzinfo=None),
        "tool_version": __version__,
        "schema_version": SCHEMA_VERSION,
    }


def _provenance(request: Request, model: LoadedModel, corpus: Corpus) -> dict[str, str]:
    facts = {f"package {name}": version(name) for name in _PACKAGES}
    facts |= {f"corpus {name}": str(count) for name, count in corpus.counts.items()}
    facts |= {
        "weights_sha256": model.weights_sha256,
        "random_weights": "none" if model.random_weights is None else str(model.random_weights),
        "limit": str(request.limit or "none"),
        "python": sys.version.split()[0],
        "activation": model.layers[0].feed_forward.activation,
        "layer_order": model.layers[0].order.name,
        "attention": "causal" if model.layers[0].is_causal else "full",
        "gradient_objective": model.objective,
        "relevance_start": model.relevance_start,
        "input": "text" if model.images is None else "images",
    }
    if model.images is None:
        return facts | _of_text(request, model, corpus)
    positions = model.images.interpolation or "as learned"
    return facts | {"image_processor": model.images.settings, "positions": positions}


def _of_text(request: Request, model: LoadedModel, corpus: Corpus) -> dict[str, str]:
    given = corpus.segments if request.segments == "read" else (0,)
    return {
        "max_tokens": str(request.max_tokens),
        "packing": request.packing,
        "segments": request.segments,
        "segments_given": ", ".join(map(str, given)) if model.segment_types else "none",
        "frequencies": request.frequencies.name if request.frequencies else "none",
        "word_vectors": request.word_vectors.name if request.word_vectors else "none",
    }

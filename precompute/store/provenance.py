"""Facts about the run that made a file."""

import sys
from datetime import UTC, datetime
from importlib.metadata import version

from analysis.contracts import CHECKS, groups
from analysis.models.families import deberta
from analysis.models.proof import PARTS
from analysis.statistics import SCHEMA_VERSION
from precompute import __version__
from precompute.choice import of_texts_run_again
from precompute.corpora.index.corpus import Corpus
from precompute.jobs.plan import Plan
from precompute.models.bundled import BUNDLED
from precompute.models.loaded_model import LoadedModel
from precompute.request import Request

_PACKAGES = ("torch", "transformers", "tokenizers", "pillow", "duckdb", "numpy", "scipy", "pyarrow")


def identity(request: Request, model: LoadedModel, corpus: Corpus) -> dict:
    """Return what two runs of equal numbers share: of model, corpus and settings."""
    return {
        "revision": model.revision,
        "corpus_sha256": corpus.sha256,
        "n_sequences": len(corpus),
        "n_tokens": corpus.n_tokens,
        "mask_rate": request.mask_rate,
        "seed": request.seed,
        "dtype": request.dtype,
    }


def run_row(request: Request, model: LoadedModel, plan: Plan) -> dict:
    """The one row of `run`."""
    return {
        **identity(request, model, plan.corpus),
        "model": request.model,
        "family": model.family,
        "n_layers": max([*model.numbers, *model.reading.without_attention]),
        "n_heads": len(model.layers[0].query_weight),
        "hidden_size": model.model.config.hidden_size,
        "corpus": plan.corpus.name,
        "device": model.device,
        "statistics": list(plan.statistics),
        "created_at": datetime.now(UTC).replace(microsecond=0, tzinfo=None),
        "tool_version": __version__,
        "schema_version": SCHEMA_VERSION,
    }


def provenance_facts(request: Request, model: LoadedModel, corpus: Corpus) -> dict[str, str]:
    """The rows of `provenance`, by name."""
    facts = {f"package {name}": version(name) for name in _PACKAGES}
    facts |= {f"corpus {name}": str(count) for name, count in corpus.counts.items()}
    without_attention = model.reading.without_attention
    windows = dict.fromkeys(without_attention, "none")
    for number, size in zip(model.numbers, model.windows, strict=True):
        windows[number] = "all" if size is None else str(size)
    names = ("weights_sha256", "positions_by", "transforms", "relevance_start")
    facts |= {name: getattr(model, name) for name in names}
    facts |= {
        **dict(model.identity),
        "random_weights": "none" if model.random_weights is None else str(model.random_weights),
        "part": model.part or "none",
        "limit": str(request.limit or "none"),
        "check_sequences": str(request.check_sequences or "none"),
        "raw_rows": str(request.bounds.raw_rows),
        "python": sys.version.split()[0],
        "activation": str(model.layers[0].feed_forward.activation),
        "layer_order": model.layers[0].order.name,
        "attention": "causal" if model.layers[0].is_causal else "full",
        "windows": ", ".join(windows[number] for number in sorted(windows)),
        "gradient_objective": model.objective,
        "input": "text" if model.images is None else "images",
        "reading": "code" if model.family in deberta.FAMILIES else "found",
    }
    if request.model in BUNDLED and model.random_weights is None:
        facts |= BUNDLED[request.model].facts
    if model.proof is not None:
        facts |= {f"proof_{part}": f"{model.proof.worst(part):.1e}" for part in PARTS}
    with_sinks = (layer.number for layer in model.layers if layer.sink_logit is not None)
    listed = {
        "without_attention": [f"{number} {name}" for number, name in without_attention.items()],
        "layers_with_sink_logits": list(map(str, with_sinks)),
        "modules_not_read": model.not_read,
        "settings_not_read": model.settings_not_read,
    }
    facts |= {name: ", ".join(values) for name, values in listed.items() if values}
    if model.images is None:
        return facts | _of_text(request, model, corpus)
    positions = model.images.interpolation or "as learned"
    return facts | {"image_processor": model.images.settings, "positions": positions}


def checked_facts(plan: Plan) -> dict[str, str]:
    """Return how many sequences the checks of robustness read, if there are any, and how many are
    run again without each head, 0 if that was left out."""
    checks = {*groups()[CHECKS]} & {*plan.statistics}
    facts = {"checked": f"{len(plan.checked)}/{len(plan.corpus)}"} if checks else {}
    if of_texts_run_again(plan.statistics) or plan.left_out:
        facts |= {"run_again": f"{len(plan.run_again)}/{len(plan.corpus)}"}
    return facts


def _of_text(request: Request, model: LoadedModel, corpus: Corpus) -> dict[str, str]:
    own, overruled = type(model.tokenizer).__name__, model.overruled_tokenizer
    given = corpus.segments if request.segments == "read" else (0,)
    names = ("max_tokens", "packing", "column", "segments")
    return {name: str(getattr(request, name)) for name in names} | {
        "tokenizer": f"tokenizer.json, not {overruled}" if overruled else own,
        "corpus_revision": ", ".join(corpus.revisions) or "none",
        "corpus_form": corpus.form,
        "segments_given": ", ".join(map(str, given)) if model.segment_types else "none",
        "frequencies": request.frequencies.name if request.frequencies else "none",
        "word_vectors": request.word_vectors.name if request.word_vectors else "none",
    }

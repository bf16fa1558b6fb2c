"""Print the figures of docs/costs.md: time and memory of runs, and server time of pages.

    python -m tests.benchmark                              # a small version of every part: minutes
    python -m tests.benchmark --full                       # the sizes of docs/costs.md: an hour
    python -m tests.benchmark pages --folder statistics    # pages of files of your own

Every measurement is a process of its own, so that its peak of memory is its own. Ratios are of
times in one process, measured in turn, so that a busy machine slows both. Weights other than those
of the demo model are random, and texts are random words by Zipf's law.
"""

import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, cast
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import tokenizers
import torch
import transformers
import typer
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from analysis.contracts import groups
from analysis.measures.mixing.layer_mixing import layer_mixing
from analysis.models.reading import read_model
from analysis.models.trace import LayerWeights
from analysis.scopes import POST_NORM
from analysis.statistics import SCHEMA_VERSION
from analysis.statistics.base.tables import Table
from analysis.statistics.base.weighing import WEIGHINGS
from analysis.token_types import TOKEN_TYPES
from pages.kit.contents import PAGES
from pages.kit.links import VIEWS
from precompute.corpora.index import corpus as index
from precompute.corpora.index.corpus import Reading
from precompute.corpora.sequence import Sequence
from precompute.jobs import tables
from precompute.jobs.memory import return_freed_memory
from precompute.jobs.plan import Facts, Plan, batches
from precompute.jobs.runner import finish_plan, run_local
from precompute.jobs.shards import finish_shard
from precompute.models.load_models import load_model
from precompute.models.loaded_model import LoadedModel
from precompute.needs import chosen_statistics
from precompute.passes import STATISTICS
from precompute.store.build import build
from tests.hostile_files import PROVENANCE
from tests.pages.kit.chromium import serving
from tests.pages.kit.ran import sections
from tests.tracing import names_of, rows_of_tables, table_of, trace_of

Part = StrEnum("Part", ["attention", "layers", "long", "many", "pages"])
TOKENS, IDENTITY = 128, (("model.weights", "0" * 64),)
OF_ATTENTION = list(groups()["attention"])
OF_LONG_TEXTS = (
    "token_norm", "head_token", "attention_norm_histogram", "sequence_head_pattern",
    "relative_position_profile", "sequence_sink",
)  # fmt: skip
OF_MANY_TEXTS = (
    "completeness", "layer_completeness", "head_token", "token_norm", "sequence_head_pattern",
    "sequence_scope_similarity", "head_pattern", "head_pattern_difference", "token_type_mixing",
    "scope_similarity", "value_norm_dispersion", "input_norm_dispersion", "frequency_correlation",
)  # fmt: skip
SHORT, LAYERS, HEADS = 16, 2, 2
"""Tokens of many texts, and the model that is said to have read them."""
VOCABULARY, FIRST, LAST, FIRST_WORD = 5000, 101, 102, 1000
SIDE, STREAM = 2048, "/_stcore/stream"
PATIENCE, PROMPT = 120, 0.3  # seconds


def timed(work: Callable[[], object]) -> np.ndarray:
    """Seconds of a piece of work: wall time and processor time."""
    started = time.perf_counter(), time.process_time()
    work()
    return np.array([time.perf_counter(), time.process_time()]) - started


def own_peak() -> float:
    """The most memory that this process has had, in MiB."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024


def in_a_process(threads: int, work: Callable[..., None], *given: object) -> None:
    """Do a piece of work in a process of its own; the whole program ends where it fails."""
    child = os.fork()
    if not child:
        torch.set_num_threads(threads)
        return_freed_memory()
        try:
            work(*given)
        except Exception:
            traceback.print_exc()
            os._exit(1)
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit(1)


def text(index: int, n_tokens: int) -> Sequence:
    """A text of random words between the special tokens of BERT, a document of its own."""
    drawn = np.random.default_rng(index).zipf(1.3, size=n_tokens)
    ids = np.minimum(drawn + FIRST_WORD, VOCABULARY - 1).astype(np.int32)
    ids[0], ids[-1] = FIRST, LAST
    kinds = [TOKEN_TYPES.index(name) for name in ("cls", "sep", "other")]
    words = tuple(f"word{word}" for word in ids)
    types = np.select([ids == FIRST, ids == LAST], kinds[:2], kinds[2]).astype(np.uint8)
    return Sequence(
        index=index, ids=ids, token_types=types, tokens=words, text=" ".join(words), place="",
        segments=np.zeros(n_tokens, dtype=np.uint8), words=np.arange(n_tokens, dtype=np.int32),
        masked=np.zeros(n_tokens, dtype=bool),
    )  # fmt: skip


def plan_of(folder: Path, n: int, n_tokens: int, names: tuple[str, ...]) -> Plan:
    """Plan of some statistics of so many texts."""
    begin = lambda first: (text(index, n_tokens) for index in range(first, n))  # noqa: E731
    corpus = index.indexed(Reading("synthetic", {"n": n}, begin, lambda: "0" * 64), folder)
    return Plan(
        folder, Facts((("model.weights", "0" * 64),), "float32", 0, POST_NORM), corpus, names
    )


def build_file(plan: Plan, n_layers: int, n_heads: int, width: int) -> None:
    """Build the file of a plan whose shards are there, as of a model of these sizes."""
    row = {
        "model": "random", "revision": "", "family": "bert", "device": "cpu", "n_layers": n_layers,
        "n_heads": n_heads, "hidden_size": width, "corpus": "random", "corpus_sha256": "",
        "n_sequences": len(plan.corpus), "n_tokens": plan.corpus.n_tokens, "mask_rate": 0.0,
        "seed": 0, "dtype": "float32", "statistics": list(plan.statistics), "created_at": 0,
        "tool_version": "", "schema_version": SCHEMA_VERSION,
    }  # fmt: skip
    build(plan, plan.folder / "out.duckdb", row, PROVENANCE)


def model_of(shape: str) -> LoadedModel:
    """The demo model; or BERT-base's shape with random weights and the demo model's tokenizer."""
    demo = load_model("demo", device="cpu")
    if shape == "demo":
        return demo
    torch.manual_seed(0)
    made = transformers.BertModel(transformers.BertConfig())
    reading = read_model(made.eval().requires_grad_(False))
    return replace(demo, name=shape, model=made, reading=reading, layers=reading.layers)


@torch.inference_mode()
def bare_pass(model: LoadedModel, given: list[Sequence], **how: bool) -> None:
    """Run the model alone."""
    model.model(**model.reading.inputs(model.inputs(given)), **how)


def bare(model: LoadedModel, plan: Plan) -> None:
    """Run the forward passes of a plan alone, with attentions computed and dropped."""
    for job in range(len(plan.corpus.job_sizes)):
        for sequences in batches(plan.corpus.job(job)):
            bare_pass(model, list(sequences), output_attentions=True)


def everything(model: LoadedModel, plan: Plan) -> None:
    """The whole run, from forward passes to the published file."""
    finish_plan(plan, model, run_local)
    config = model.model.config
    build_file(plan, config.num_hidden_layers, config.num_attention_heads, config.hidden_size)


def attention(shape: str, n: int, rounds: int) -> None:
    """Print time and memory of a whole run over those of its bare forward passes."""
    model, names = model_of(shape), chosen_statistics(OF_ATTENTION)
    ratios = []
    with TemporaryDirectory() as folder:
        plans = [plan_of(Path(folder) / str(place), n, TOKENS, names) for place in range(rounds)]
        bare(model, plans[0])
        peak = own_peak()
        everything(model, plan_of(Path(folder) / "warm", min(n, 16), TOKENS, names))
        for plan in plans:
            fresh = replace(model, layers=read_model(model.model).layers)
            alone, whole = (timed(partial(way, fresh, plan)) for way in (bare, everything))
            ratios.append(whole / alone)
            print(
                f"attention, {shape}, {n} texts of {TOKENS}: bare {alone[0]:.1f} s, whole "
                f"{whole[0]:.1f} s, of the processor {whole[1]:.1f} s; file "
                f"{_size(plan, 'duckdb'):.1f} MB, shards {_size(plan, 'parquet'):.1f} MB",
                flush=True,
            )
    wall, processor = np.median(ratios, axis=0)
    print(
        f"attention, {shape}: {wall:.2f} times as long, {processor:.2f} times of processor time; "
        f"peak {own_peak():.0f} MiB, {own_peak() / peak:.2f} times"
    )


def _size(plan: Plan, kind: str) -> float:
    """Megabytes of the files of a kind below a plan's folder."""
    return sum(path.stat().st_size for path in plan.folder.rglob(f"*.{kind}")) / 1e6


def arithmetic(weights: LayerWeights, n: int) -> int:
    """Floating-point operations that mixing by a layer needs: two per multiply-add."""
    heads, _, width = weights.output_weight.shape
    hidden = len(weights.feed_forward.input_bias)
    return 2 * (n * heads * width * hidden + n * n * (heads * (width + hidden) + hidden * width))


def layers(shape: str, rounds: int) -> None:
    """Print the speed of all scopes of all layers over that of large products of matrices."""
    traced = trace_of(model_of(shape), [text(0, TOKENS)]).layers
    traced = [layer.of_sequence(0, TOKENS) for layer in traced[: 2 if shape != "demo" else None]]
    work = sum(arithmetic(layer.weights, TOKENS) for layer in traced)
    left, right = torch.randn(2, SIDE, SIDE)

    def mixed(dtype: torch.dtype | None = None) -> float:
        return max(layer_mixing(layer, dtype=dtype).errors.max().item() for layer in traced)

    errors = mixed(), mixed(torch.bfloat16)
    rates, times, halves = (
        np.array([timed(way)[0] for _ in range(rounds)])
        for way in (lambda: left @ right, mixed, partial(mixed, torch.bfloat16))
    )
    rate = 2 * SIDE**3 / rates.min()
    print(
        f"whole layers, {shape}, {len(traced)} layers, {TOKENS} tokens: {np.median(times):.2f} s, "
        f"{np.median(work / times / rate):.0%} of {rate / 1e9:.0f} GFLOP/s; bfloat16 "
        f"{np.median(times / halves):.2f} times as fast; worst sums {errors[0]:.1e}, "
        f"{errors[1]:.1e} in bfloat16"
    )


def decoder(n_layers: int, folder: Path) -> Path:
    """Save a decoder of SmolLM2's shape with random weights and a small vocabulary."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=576, intermediate_size=1536,
        num_hidden_layers=n_layers, num_attention_heads=9, num_key_value_heads=3,
        max_position_embeddings=8192,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    words = {f"w{place}": place for place in range(VOCABULARY)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="w0"))
    read = transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="w0")
    read.save_pretrained(folder)
    return folder


def long_text(folder: Path, n_tokens: int) -> None:
    """Print time and memory of one text's bare forward pass, and of six statistics of it."""
    model = load_model(str(folder), device="cpu", fetch=False)
    chosen = [STATISTICS[name] for name in OF_LONG_TEXTS]
    rows_of_tables(chosen, model, [text(0, 16)])
    loaded, given = own_peak(), [text(1, n_tokens)]
    bare_forward, of_text = partial(bare_pass, model), partial(rows_of_tables, chosen, model)
    for name, way in {"bare forward pass": bare_forward, "six statistics": of_text}.items():
        took, _ = timed(lambda way=way: way(given))
        print(
            f"a text of {n_tokens} tokens, {len(model.layers)} layers, {name}: {took:.1f} s, "
            f"peak {own_peak():.0f} MiB, {own_peak() - loaded:.0f} of it after loading"
        )


def shard(table: Table, job: tuple[Sequence, ...]) -> pa.Table:
    """Random numbers for every row that a table has of some texts."""
    draw = np.random.default_rng([job[0].index, len(table.name)])
    pairs = np.stack(np.triu_indices(len(POST_NORM.scopes), k=1))
    places = {
        "seq": [sequence.index for sequence in job], "weighing": range(len(WEIGHINGS)),
        "pos": range(SHORT), "layer": range(1, LAYERS + 1), "head": range(1, HEADS + 1),
        "scope_a": range(pairs.shape[1]),
    }  # fmt: skip
    names = {column.name for column in table.key}
    axes = {name: np.array(values) for name, values in places.items() if name in names}
    grid = np.meshgrid(*axes.values(), indexing="ij")
    columns: dict[str, Any] = {name: at.ravel() for name, at in zip(axes, grid, strict=True)}
    n = len(columns["seq"])
    if "token_type" in names:
        kinds = np.array([sequence.token_types for sequence in job])
        rows = np.searchsorted(axes["seq"], columns["seq"])
        columns["token_type"] = names_of(kinds[rows, columns["pos"]])
    if "weighing" in names:
        columns["weighing"] = names_of(columns["weighing"], WEIGHINGS)
    if "scope_a" in names:
        for name, scopes in zip("ab", pairs[:, columns["scope_a"]], strict=True):
            columns[f"scope_{name}"] = names_of(scopes, tuple(POST_NORM.scopes))
    fixed = {"n_tokens": SHORT, "worst_pos": 0, "uniform": np.log(SHORT)}
    for name in (column.name for column in table.columns if column not in table.key):
        scale = 1e-7 if "error" in name or name == "percentile_99" else 0.5
        drawn = draw.random(n, dtype=np.float32) * scale
        columns[name] = np.full(n, fixed[name]) if name in fixed else drawn
    return table_of(table, **columns)


def many_texts(folder: Path, n: int) -> None:
    """Make a file of random rows through the real merge, fits and store; print what they cost."""
    index.JOB_SEQUENCES = index.PART_SEQUENCES  # fewer files, and no model is run
    begun = timed(lambda: plan_of(folder, n, SHORT, OF_MANY_TEXTS))
    plan = plan_of(folder, n, SHORT, OF_MANY_TEXTS)
    for table in (STATISTICS[name] for name in OF_MANY_TEXTS):
        for job in range(len(plan.corpus.job_sizes)) if table.of_layers else ():
            finish_shard(plan.shard_folder(table), job, partial(shard, table, plan.corpus.job(job)))
    shards = _size(plan, "parquet")

    def merge() -> None:
        tables.finish_corpus(plan)
        with tables.workspace(plan.folder) as database:
            for name in plan.tables:
                tables.finish_table(database, plan, name)

    merged = timed(merge)
    built = timed(lambda: build_file(plan, LAYERS, HEADS, 8))
    print(
        f"{n} texts: shards {shards:.1f} MB, file {_size(plan, 'duckdb'):.1f} MB; of the "
        f"processor: corpus {begun[1]:.1f} s, merging and fits {merged[1]:.1f} s, "
        f"file {built[1]:.1f} s; peak {own_peak():.0f} MiB"
    )


def opened(socket: ClientConnection, page: str, **address: str) -> float:
    """Seconds until a page is complete, with all that a browser would receive."""
    request = BackMsg()
    request.rerun_script.query_string = urlencode({"lang": "en", **address})
    request.rerun_script.page_name = PAGES[page]
    started = time.perf_counter()
    socket.send(request.SerializeToString())
    while True:
        message = ForwardMsg()
        message.ParseFromString(cast(bytes, socket.recv(timeout=PATIENCE)))
        if wrong := message.delta.new_element.exception.message:
            raise RuntimeError(f"{page}: {wrong}")
        is_done = message.WhichOneof("type") == "script_finished"
        if is_done and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
            return time.perf_counter() - started


def pages(folder: Path, times: int) -> None:
    """Print the server's time for every section of the first file of a folder."""
    file = min(folder.glob("*.duckdb")).name
    places = [(page, {}) for page in PAGES.keys() - VIEWS.keys()]
    places += [(page, {view: of.name}) for page, view in VIEWS.items() for of in sections(page)]
    alone, protocols = {}, [Subprotocol("streamlit")]
    how: dict[str, Any] = {"subprotocols": protocols, "max_size": None, "open_timeout": PATIENCE}
    with serving(folder) as server, connect(server.replace("http", "ws") + STREAM, **how) as reader:
        for page, view in places:
            first, *again = (opened(reader, page, file=file, **view) for _ in range(1 + times))
            alone[" ".join([page, *view.values()])] = min(again, default=first)
        slowest = sorted(alone, key=alone.__getitem__)[:-4:-1]
        within = sum(took <= PROMPT for took in alone.values())
        print(
            f"pages of {file}: {within} of {len(alone)} sections within {PROMPT:g} s, median "
            f"{statistics.median(alone.values()):.2f} s; slowest: "
            + ", ".join(f"{name} {alone[name]:.2f} s" for name in slowest)
        )


def main(
    parts: Annotated[list[Part] | None, typer.Argument(help="All unless named.")] = None,
    full: Annotated[bool, typer.Option(help="The sizes of docs/costs.md.")] = False,
    folder: Annotated[Path | None, typer.Option(help="Files whose pages are opened.")] = None,
    threads: int = 2,
) -> None:
    """Print the costs of every part, or of those named."""
    shapes = {"demo": 256, "BERT-base": 128} if full else {"demo": 16, "BERT-base": 4}
    rounds, measure = 3 if full else 1, partial(in_a_process, threads)
    with TemporaryDirectory() as scratch:
        place = Path(scratch)
        for part in dict.fromkeys(parts or Part):
            if part == "attention":
                for shape, n in shapes.items():
                    measure(attention, shape, n, rounds)
            elif part == "layers":
                for shape in shapes:
                    measure(layers, shape, rounds)
            elif part == "long":
                for n_layers in (4, 24) if full else (4,):
                    saved = decoder(n_layers, place / f"decoder{n_layers}")
                    measure(long_text, saved, 2048 if full else 512)
            elif part == "many":
                for n in (100_000, 1_000_000) if full else (5_000,):
                    measure(many_texts, place / str(n), n)
            else:
                if not folder:
                    measure(many_texts, place / "pages", 500)
                pages(folder or place / "pages", rounds)


if __name__ == "__main__":
    typer.run(main)

"""The commands of `python -m precompute`."""

import sys
from enum import StrEnum
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from analysis.contracts import groups
from analysis.errors import UserError
from precompute import __version__
from precompute.models.bundled import BUNDLED
from precompute.progress import displayed
from precompute.serve import findings, open_file, serve
from precompute.stopping import StopLine

Dtype = StrEnum("Dtype", ["float32", "bfloat16"])
Packing = StrEnum("Packing", ["paragraphs", "sentences", "blocks", "trees"])
Segments = StrEnum("Segments", ["read", "zero"])
Part = StrEnum("Part", ["text", "vision", "encoder"])
RunnerName = StrEnum("RunnerName", ["local", "ray"])
CorpusFiles = Annotated[
    list[str],
    typer.Option(
        "--corpus",
        help="A corpus file, also .gz or .zst, or a folder of such, more than once if the corpus "
        "is several; hf://datasets/OWNER/NAME[@REVISION]/PATH for Parquet of the hub; a folder of "
        "images; demo, demo-treebank, demo-ja, demo-copy, or demo-digits.",
    ),
]
PackingOption = Annotated[
    Packing,
    typer.Option(
        help="How plain text becomes sequences: pairs of paragraphs, sentences packed in two "
        "segments, or the whole file in texts of exactly --max-tokens. Of an annotated corpus "
        "`trees` reads every sentence by itself, also where documents bear coreference."
    ),
]
Column = Annotated[
    str,
    typer.Option(
        help="The key or column that holds the texts of JSON Lines, Parquet or Arrow; of other "
        "keys beside it, nothing is read."
    ),
]
app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


def _names(words: str | None) -> str | None:
    """Refuse a list without a name."""
    if words is not None and not words.replace(",", "").strip():
        raise typer.BadParameter("names no statistic")
    return words


@app.callback(invoke_without_command=True)
def every_command(
    version: Annotated[bool, typer.Option("--version", help="Say which version this is.")] = False,
) -> None:
    """Run a Transformer over a corpus and keep what its attention does in one DuckDB file."""
    if version:
        print(f"mixscope {__version__}")


@app.command()
def run(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Option(
            help=f"A folder, a hub name (NAME or NAME@REVISION), or {', '.join(BUNDLED)}."
        ),
    ],
    corpus: CorpusFiles,
    output: Annotated[
        Path | None,
        typer.Option(
            help="The file to make, ending in .duckdb; statistics/MODEL-CORPUS.duckdb unless given."
        ),
    ] = None,
    statistics: Annotated[
        str | None,
        typer.Option(
            callback=_names,
            help=f"Names of statistics or of groups, with commas between: {', '.join(groups())}. "
            "-NAME takes one away. All that the model and the corpus allow, unless given.",
        ),
    ] = None,
    mask: Annotated[float, typer.Option(help="Share of the tokens to mask.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 0,
    max_tokens: Annotated[int, typer.Option(min=1, help="Longest sequence.")] = 128,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N sequences.")] = None,
    device: Annotated[
        str,
        typer.Option(
            help="Where the model runs: any device that torch knows, such as cpu, cuda:1, mps or "
            "xpu; auto takes a CUDA GPU where there is one."
        ),
    ] = "auto",
    dtype: Dtype = Dtype.float32,
    runner: RunnerName = RunnerName.local,
    workers: Annotated[int, typer.Option(min=1, help="Processes that run the model.")] = 1,
    cpus_per_worker: Annotated[
        int | None, typer.Option(min=1, help="Threads of each; with Ray, CPUs kept for it.")
    ] = None,
    gpus_per_worker: Annotated[
        float | None, typer.Option(min=0, help="With Ray: the GPUs kept for each, such as 0.5.")
    ] = None,
    packing: PackingOption = Packing.paragraphs,
    column: Column = "text",
    segments: Annotated[
        Segments,
        typer.Option(
            help="Segment ids that the model gets: those of the text, or 0 for every token."
        ),
    ] = Segments.read,
    random_weights: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=2**63 - 1,
            help="Run the same architecture untrained: weights drawn anew with this seed.",
        ),
    ] = None,
    part: Annotated[
        Part | None,
        typer.Option(help="The part to read of a model that is made of several, such as a CLIP."),
    ] = None,
    frequencies: Annotated[
        Path | None, typer.Option(help="Word frequencies: lines `rank count id`.")
    ] = None,
    word_vectors: Annotated[
        Path | None,
        typer.Option(help="Static vectors for parsers, as GloVe has them: lines `word number …`."),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(
            min=0, help="Stop when no 95% interval of the named statistics is wider than this."
        ),
    ] = None,
    check_sequences: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Sequences that the checks of robustness read and run again without each head; "
            "unless given, one in 30, at least 2 and at most 32, and as many again as a tenth of "
            "the run pays for.",
        ),
    ] = None,
    raw_rows: Annotated[
        int,
        typer.Option(
            min=1,
            help="Rows that each table of tokens, words or occurrences has at most: of a larger "
            "corpus the file keeps a sample of whole sequences, and only the commonest pairs.",
        ),
    ] = 20_000_000,
    pair_memory: Annotated[
        int, typer.Option(min=1, help="MiB for the hidden vectors of pairs at a time.")
    ] = 8,
) -> None:
    """Run a model over a corpus. Rerun the command to resume; the results are identical."""
    options = dict(locals())
    from precompute.request import request_of

    request = request_of(options)
    stop_line = context.find_object(StopLine)
    # begun before the imports, which take seconds
    with displayed(request.output, stop_line, workers=workers) as on_event:
        from precompute.jobs.workers import runner_for
        from precompute.run import run as run_request

        with runner_for(runner, workers, cpus=cpus_per_worker, gpus=gpus_per_worker) as run_jobs:
            run_request(request, run_jobs, on_event)


@app.command()
def demo(
    context: typer.Context,
    output: Annotated[Path, typer.Option(help="The file to make.")] = Path(
        "statistics/demo.duckdb"
    ),
    first: Annotated[
        bool, typer.Option("--first", help="Only what takes seconds; the whole adds the rest.")
    ] = False,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Small models of Japanese and of copying too, and those of --decoder and "
            "--encoder.",
        ),
    ] = False,
    decoder: Annotated[
        bool,
        typer.Option(
            "--decoder",
            help="The trained decoder SmolLM2-135M-Instruct too, from 4-bit weights: a download "
            "of 93 MB.",
        ),
    ] = False,
    encoder: Annotated[
        bool,
        typer.Option(
            "--encoder",
            help="The trained encoder all-mpnet-base-v2 too, of BERT-base's size: a download of "
            "405 MB.",
        ),
    ] = False,
) -> None:
    """Build the demo: the bundled corpora through the demo models, one of which is installed.

    Other models and corpora than that of the articles have files of their own, beside that one.
    """
    from precompute.demo import DECODER, ENCODER, EVERY, build_demo, install_demo_model

    install_demo_model()
    more = EVERY if every else (DECODER if decoder else {}) | (ENCODER if encoder else {})
    build_demo(partial(run, context), output, first=first, more=more)


@app.command()
def check(file: Path) -> None:
    """Is the file whole and are its numbers sound?"""
    from precompute.store.check import faults
    from precompute.store.show import remarks

    found = list(faults(file))
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        raise typer.Exit(1)
    print("\n".join((f"{file}: whole and sound.", *remarks(file))))


@app.command()
def show(file: Path) -> None:
    """What is in the file: model, corpus, tables, rows, completeness."""
    from precompute.store.show import lines

    print("\n".join(lines(file)))


@app.command()
def statistics() -> None:
    """The statistics that --statistics takes, with what each writes."""
    from precompute.store.show import statistics_lines

    print("\n".join(statistics_lines()))


@app.command()
def convert(
    corpus: CorpusFiles,
    output: Annotated[Path, typer.Option(help="The JSON Lines file to make.")],
    packing: PackingOption = Packing.paragraphs,
    column: Column = "text",
    model: Annotated[
        str | None, typer.Option(help="Whose tokenizer packs sentences; else not needed.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Longest sequence.")] = 128,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the packing.")] = 0,
) -> None:
    """Turn a corpus of any form into JSON Lines for sharing."""
    from precompute.corpora.load import convert_corpus

    settings = {"packing": packing, "column": column, "max_tokens": max_tokens, "seed": seed}
    n = convert_corpus(corpus, output, model=model, **settings)
    print(f"{output}: {n} lines")


app.command()(serve)
app.command("open")(open_file)
app.command()(findings)


def run_command(stop_line: StopLine | None = None) -> None:
    """Run a command; print a user's error in one line, without a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # of a console that may lack letters: escape them
            stream.reconfigure(errors="backslashreplace")
    try:
        app(obj=stop_line)
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(1)

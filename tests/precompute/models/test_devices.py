"""Any device that torch knows runs the model; without float64 the processor measures."""

from typing import Any

import duckdb
import pandas as pd
import pytest
import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from analysis.errors import UserError
from precompute.jobs.runner import run_local
from precompute.models.loaded_model import chosen_device
from precompute.run import run
from tests.refusals import refused
from tests.small_store import request

NAME = "single"
_WIDE = {torch.float64, torch.complex128}
_BETWEEN = ("copy_", "_to_copy", "index")  # indices may be the processor's


class There(Tensor):
    """A tensor on the device, and its numbers `here`."""

    here: Tensor

    @staticmethod
    def __new__(cls, here: Tensor) -> "There":
        layout = {"strides": here.stride(), "storage_offset": here.storage_offset()}
        place = torch.device(NAME, 0)
        there = Tensor._make_wrapper_subclass(
            cls, here.size(), **layout, dtype=here.dtype, device=place
        )
        there.here = here
        return there

    @classmethod
    def __torch_dispatch__(cls, operation, types, args=(), kwargs=None):
        return _computed(operation, *args, **(kwargs or {}))


def _computed(operation: Any, *args: Any, **kwargs: Any) -> Any:
    name = operation.overloadpacket.__name__
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    stays = torch.device(kwargs.get("device") or NAME).type == NAME
    if name == "copy_" and not isinstance(args[0], There):
        stays = False
    if not name.startswith(_BETWEEN):
        strangers = [t for t in tensors if not isinstance(t, There) and t.dim()]
        if strangers:
            raise RuntimeError(f"{name}: expected all tensors to be on the same device")
    here = {k: torch.device("cpu") if isinstance(v, torch.device) else v for k, v in kwargs.items()}
    given, named = tree_map(lambda leaf: getattr(leaf, "here", leaf), (args, here))
    found = operation(*given, **named)
    return tree_map(lambda leaf: _put(name, leaf, args), found) if stays else found


def _put(name: str, found: Any, args: tuple) -> Any:
    if not isinstance(found, Tensor):
        return found
    for given in args:  # of an operation in place
        if isinstance(given, There) and given.here is found:
            return given
    if found.dtype in _WIDE:
        raise TypeError(f"{name}: the device {NAME} has no float64")
    return There(found)


_LIBRARY = torch.library.Library("_", "IMPL")


def pretend() -> None:
    """Add the device to torch, for good."""
    _setup_privateuseone_for_python_backend(NAME)
    _LIBRARY.fallback(
        lambda operation, *args, **named: _computed(operation, *args, **named), "PrivateUse1"
    )


STATISTICS = ["token_norm", "singular_value", "relative_position_profile", "head_token"]
"""None of gradients: torch counts the devices that it has gradients on once for a process."""


@pytest.mark.parametrize("name", ["cuda:7", "meta", "gpu", ""])
def test_a_device_that_is_not_there_is_told(name):
    message = refused(UserError, chosen_device, name)
    assert message.startswith(f"--device {name} cannot be used here (")
    assert message.endswith("). Take --device cpu or auto.")


@pytest.fixture(scope="module")
def single():
    """The pretended device; in inference mode torch would refuse tensors in Python."""
    pretend()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "inference_mode", torch.no_grad)
        yield NAME


def test_without_float64_a_device_runs_the_model_and_the_processor_measures(single, tmp_path):
    found = {}
    for device in ("cpu", single):
        output = tmp_path / device / "a.duckdb"
        asked = request(tmp_path, output=output, device=device, statistics=STATISTICS)
        plan = run(asked, run_local)
        with duckdb.connect(str(output), read_only=True) as store:
            assert store.execute("select device from run").fetchall() == [(device,)]
            found[device] = {
                table.name: store.execute(f"from stored.{table.name} order by all").df()
                for table in plan.passes
            }
    assert set(STATISTICS) <= set(found[single])
    for name, frame in found["cpu"].items():
        pd.testing.assert_frame_equal(frame, found[single][name], rtol=1e-4, atol=1e-6)

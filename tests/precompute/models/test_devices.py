"""Any device that torch knows runs the model; without float64 the processor measures."""

import duckdb
import pandas as pd
import pytest
import torch

from analysis.errors import UserError
from precompute.jobs.runner import run_local
from precompute.models.loaded_model import chosen_device, has_float64
from precompute.run import run
from tests.precompute.models import single_device
from tests.refusals import refused
from tests.small_store import request

STATISTICS = {
    "bert": ["token_norm", "singular_value", "relative_position_profile"],
    "vit": ["head_token", "value_norm_dispersion"],
}
"""None of gradients: torch counts the devices that it has gradients on once for a process."""


@pytest.mark.parametrize("name", ["cuda:7", "xpu", "mps", "meta", "gpu", "cpu:x", ""])
def test_a_device_that_is_not_there_is_told(name):
    message = refused(UserError, chosen_device, name)
    assert message.startswith(f"--device {name} cannot be used here (")
    assert message.endswith("). Take --device cpu or auto.")


@pytest.fixture(scope="module")
def single():
    """The pretended device; in inference mode torch would refuse tensors in Python."""
    single_device.pretend()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "inference_mode", torch.no_grad)
        yield single_device.NAME


def test_the_pretended_device_refuses_what_a_real_one_does(single):
    there = torch.ones(2, 3, device=single)
    with pytest.raises(TypeError, match="no float64"):
        there.double()
    with pytest.raises(RuntimeError, match="same device"):
        there.add(torch.ones(2, 3))
    assert not has_float64(chosen_device(single))
    assert has_float64(torch.device("cpu"))


@pytest.mark.slow
@pytest.mark.parametrize("family", STATISTICS)
def test_without_float64_a_device_runs_the_model_and_the_processor_measures(
    family, single, tmp_path
):
    found = {}
    for device in ("cpu", single):
        output = tmp_path / device / "a.duckdb"
        asked = request(
            tmp_path, family, output=output, device=device, statistics=STATISTICS[family]
        )
        plan = run(asked, run_local)
        with duckdb.connect(str(output), read_only=True) as store:
            assert store.execute("select device from run").fetchall() == [(device,)]
            found[device] = {
                table.name: store.execute(f"from stored.{table.name} order by all").df()
                for table in plan.passes
            }
    assert set(STATISTICS[family]) <= set(found[single])
    for name, frame in found["cpu"].items():
        pd.testing.assert_frame_equal(frame, found[single][name], rtol=1e-4, atol=1e-6)

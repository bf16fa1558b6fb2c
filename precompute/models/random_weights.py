"""A model as its architecture starts out: weights drawn anew, nothing learnt."""

import hashlib
import json
from pathlib import Path
from threading import Lock

import torch
import transformers

from analysis.errors import UnfitModel
from analysis.models.trace import Model
from precompute.models.identity import settings_of
from precompute.models.model_folder import configuration_of, library_configuration

_ONE_AT_A_TIME = Lock()  # all threads draw from one generator


def drawn_model(folder: Path, loader: str, *, seed: int) -> Model:
    """Build an untrained model of the architecture in a folder, whose weights are not read.

    Every tensor is drawn from the seed by the architecture's own initialisation, in float32 on the
    CPU. The state of the process's random generator is restored.

    Args:
        loader: the class of transformers that makes it.

    Raises:
        UnfitModel: if the configuration describes no model.
    """
    try:
        config = library_configuration(configuration_of(folder, str(folder)))
        with _ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            kind, settings = getattr(transformers, loader), {"dtype": torch.float32}
            made = getattr(kind, "from_config", None) or kind._from_config
            model = made(config, attn_implementation="eager", **settings)
    except Exception as error:  # a strange configuration may raise errors of any kind
        raise UnfitModel(f"No model can be made of config.json in {folder}: {error}") from error
    return model.eval().requires_grad_(False)


def drawn_sha256(model: Model) -> str:
    """One hash of an untrained model's architecture and of every number that was drawn."""
    architecture = settings_of(model.config)
    digest = hashlib.sha256(json.dumps(architecture, sort_keys=True).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()

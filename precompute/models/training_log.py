"""Shared parts of training commands: threads, and a log beside the weights."""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging


@dataclass(frozen=True)
class Training:
    """A training in progress.

    One thread: sums are then made in one order, so that two trainings on one machine are equal.
    """

    recipe: Any
    started: float = field(default_factory=time.perf_counter)
    worked: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        torch.set_num_threads(1)
        logging.disable_progress_bar()
        torch.manual_seed(self.recipe.seed)

    def write_log(
        self, folder: Path, epochs: list[dict], counts: Mapping[str, Any], packages: Iterable[str]
    ) -> None:
        """Write the recipe, the counts, the versions and times, and every epoch."""
        about = {
            "recipe": asdict(self.recipe),
            **counts,
            "versions": {package: version(package) for package in packages},
            "seconds": round(time.perf_counter() - self.started, 1),
            "processor_seconds": round(time.process_time() - self.worked, 1),
            "epochs": epochs,
        }
        (folder / "training_log.json").write_text(json.dumps(about, indent=1) + "\n")

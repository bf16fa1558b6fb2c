"""Runs with too little memory."""

import resource
from functools import partial
from random import Random

from tests.tools.faults.phases import address_space
from tests.tools.faults.scene import Scene


def short(scene: Scene, chance: Random) -> str:
    """Limit the address space to a share of the run's needs beyond its start."""
    most = int(chance.uniform(0, 0.6) * scene.memory)
    with scene.trial() as folder:
        ended = scene.run(folder, partial(_limited, most))
        scene.assert_goes_on(folder)
        return ended.manner


def _limited(more: int) -> None:
    most = address_space("VmSize") + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))

"""Changes to a run's files by other processes while it is in progress."""

import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from safetensors.torch import load_file, save_file

from tests.tools.faults.phases import at, killed_after
from tests.tools.faults.process import Wrong, nothing
from tests.tools.faults.scene import OUTPUT, Scene, numbers, write_corpus

_AGES = (0, 10**9, 4 * 10**9)  # in 1970, in 2001 and in 2096


def two_runs(scene: Scene, chance: Random) -> str:
    """Two runs of one output at once."""
    with scene.trial() as folder:
        first = scene.start(folder)
        time.sleep(chance.uniform(0, sum(scene.spans.values())))
        second = scene.start(folder)
        manners = [process.ended().manner for process in (first, second)]
        scene.assert_goes_on(folder)
        return ", ".join(sorted(set(manners)))


def third_run(scene: Scene, chance: Random) -> str:
    """Two equal runs of one output, one of which may be killed, and then one with another seed.

    The third is refused while one of the others lives; otherwise the file is its own.
    """
    span = sum(scene.spans.values())
    is_killed = chance.random() < 0.5
    with scene.trial() as other:
        _succeed(scene, other, seed="7")
        of_other = numbers(other / OUTPUT)
    with scene.trial() as folder:
        mishap = partial(killed_after, chance.uniform(0, span)) if is_killed else nothing
        equal = [scene.start(folder, mishap)]
        time.sleep(chance.uniform(0, span))
        equal.append(scene.start(folder))
        time.sleep(chance.uniform(0, 2 * span))
        third = scene.start(folder, seed="7").ended()
        manners = {process.ended().manner for process in equal}
        if third.status == 0:
            if numbers(folder / OUTPUT) != of_other:
                raise Wrong("the file of the third run was replaced")
            (folder / OUTPUT).unlink()
        scene.assert_goes_on(folder)
        return f"{', '.join(sorted(manners))}; the third: {third.manner}"


def corpus(phase: str, scene: Scene, chance: Random) -> str:
    """Replace the corpus when a phase starts, and restore its modification time or not."""
    seed, is_put_back = chance.randrange(1, 1000), chance.random() < 0.5
    with scene.trial() as other:
        write_corpus(other / "text.txt", seed)
        _succeed(scene, other)
        of_other = numbers(other / OUTPUT)
    with scene.trial() as folder:
        text = folder / "text.txt"
        ended = scene.run(folder, partial(at, phase, partial(_rewritten, text, seed, is_put_back)))
        manner = ended.manner
        if (folder / OUTPUT).exists() and numbers(folder / OUTPUT) not in (scene.numbers, of_other):
            raise Wrong("a mixture of two corpora")
        _succeed(scene, folder)
        if numbers(folder / OUTPUT) != of_other:
            raise Wrong("the run after it has not the numbers of the new corpus")
        return manner


def model(phase: str, scene: Scene, chance: Random) -> str:
    """Replace the weights when a phase starts, in the same file or in a new one."""
    with scene.trial() as folder:
        copied = shutil.copytree(scene.folder / "model", folder / "model")
        change = partial(_other_weights, copied / "model.safetensors", is_new=chance.random() < 0.5)
        ended = scene.run(folder, partial(at, phase, change), model=str(copied))
        manner = ended.manner
        if (folder / OUTPUT).exists() and numbers(folder / OUTPUT) != scene.numbers:
            raise Wrong("a mixture of two models")
        scene.assert_goes_on(folder)
        return manner


def output(phase: str, scene: Scene, chance: Random) -> str:
    """Replace the output by something else, such as a folder, when a phase starts."""
    with scene.trial() as folder:
        put = chance.choice((_a_text, Path.mkdir, partial(Path.symlink_to, target="nowhere")))
        ended = scene.run(folder, partial(at, phase, partial(put, folder / OUTPUT)))
        manner = ended.manner
        if (folder / OUTPUT).is_dir():
            (folder / OUTPUT).rmdir()
        scene.assert_goes_on(folder)
        return manner


def clock(phase: str, scene: Scene, chance: Random) -> str:
    """Make the clock jump when a phase starts, with files of the far past or future."""
    moment = float(chance.choice(_AGES))
    with scene.trial() as folder:
        ended = scene.run(folder, partial(at, phase, partial(_jump, folder, moment)))
        scene.assert_goes_on(folder)
        return ended.manner


def _succeed(scene: Scene, folder: Path, **given: str) -> None:
    ended = scene.run(folder, nothing, **given)
    if ended.status:
        raise Wrong(f"the run after it failed:\n{ended.stderr}")


def _rewritten(text: Path, seed: int, is_put_back: bool) -> None:
    before = text.stat()
    write_corpus(text, seed)
    if is_put_back:
        os.utime(text, ns=(before.st_atime_ns, before.st_mtime_ns))


def _other_weights(path: Path, *, is_new: bool) -> None:
    tensors = {name: tensor * 2 for name, tensor in load_file(path).items()}
    other = path.with_name("other")
    save_file(tensors, other, metadata={"format": "pt"})
    if is_new:
        os.replace(other, path)
    else:
        path.write_bytes(other.read_bytes())
        other.unlink()


def _a_text(path: Path) -> None:
    path.write_text("no database at all")


def _jump(folder: Path, moment: float) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (moment, moment))
    real: Callable[[], float] = time.time
    time.time = lambda: real() - 86_400

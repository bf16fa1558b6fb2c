"""Randomly changed texts, annotation, images, models and collections.

Each is read or refused in one line, in bounded time and memory, and never executed.
"""

import resource
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from io import StringIO
from itertools import islice
from pathlib import Path
from random import Random
from typing import NoReturn

from analysis.errors import UserError
from pages.ui.collection.collection import collection_from
from pages.ui.collection.item import NotCollected
from pages.ui.collection.paper import paper
from pages.ui.collection.web import web_page
from precompute.corpora.frequencies import read_frequencies
from precompute.corpora.images.image_files import image_file
from precompute.corpora.images.images import image_sequence
from precompute.corpora.images.masks import mask_of
from precompute.corpora.images.uploads import read_upload
from precompute.corpora.load import read_corpus
from precompute.corpora.word_vectors import read_word_vectors
from precompute.live.live_relevance import text_of
from precompute.models.load_models import load_model
from tests.precompute.corpora.drawn import encoded, noise
from tests.precompute.corpora.tiny import bert_like
from tests.tiny import save_tiny, tiny_model, tiny_sequences
from tests.tiny_vision import image_sequences, save_tiny_vision, tiny_vision_model
from tests.tools.faults.hostile import samples
from tests.tools.faults.hostile.mutations import mutated
from tests.tools.faults.process import Wrong
from tests.tracing import trace_of

SECONDS = 20
MORE_MEMORY = 600
"""In MiB, beyond what the process held before."""
_MOST_SEQUENCES = 1000
Kind = Callable[[Random], str]
Read = Callable[[bytes], object]


def kinds(folder: Path) -> dict[str, Kind]:
    """Every kind of input by what it is called; files to be read are written into a folder."""
    tokenizer, bert, vit = bert_like(), tiny_model("bert"), tiny_vision_model("vit")
    reader, words = vit.image_reader, samples.VECTORS.decode().split()

    def corpus(content: bytes) -> None:
        given = _written(folder, content)
        reading = read_corpus(given, tokenizer, positions=64, segment_types=2, max_tokens=36)
        list(islice(reading.begin(0), _MOST_SEQUENCES))

    def upload(content: bytes) -> None:
        reader.pixels(read_upload(content, name="upload.png"))

    def mask(content: bytes) -> None:
        picture = read_upload(encoded(noise(4, 3)), name="picture.png")
        mask_of(replace(picture, mask=image_file(content, name="mask.png")))

    def typed(content: bytes) -> None:
        sequence, _ = text_of(bert, content.decode(errors="replace"), 36)
        trace_of(bert, [sequence])

    read: dict[str, tuple[Read, tuple[bytes, ...]]] = {
        **{name: (corpus, content) for name, content in samples.TEXTS.items()},
        **{f"an image ({form})": (upload, content) for form, content in samples.IMAGES.items()},
        "a mask": (mask, samples.MASKS),
        "word frequencies": (
            lambda content: read_frequencies(Path(_written(folder, content)), vocabulary=100),
            (samples.FREQUENCIES,),
        ),
        "word vectors": (
            lambda content: read_word_vectors(Path(_written(folder, content)), words),
            (samples.VECTORS,),
        ),
        "a text that is typed": (typed, samples.TYPED),
        "a collection": (shown, (samples.COLLECTION,)),
    }
    of_models = {
        f"{name} of a {family}": partial(_of_model, family, name, folder)
        for family, name in _FILES_OF_MODELS
    }
    return {
        f"changed at random: {name}": kind
        for name, kind in {
            **{name: partial(_of_bytes, *arguments) for name, arguments in read.items()},
            **of_models,
        }.items()
    }


_FILES_OF_MODELS = (
    ("bert", "config.json"),
    ("bert", "tokenizer.json"),
    ("bert", "tokenizer_config.json"),
    ("bert", "model.safetensors"),
    ("vit", "config.json"),
    ("vit", "preprocessor_config.json"),
)


def _of_bytes(read: Read, content: tuple[bytes, ...], chance: Random) -> str:
    changed = mutated(chance.choice(content), chance)
    return outcome(partial(read, changed), changed)


def _of_model(family: str, name: str, folder: Path, chance: Random) -> str:
    sound, copied = folder / f"model-{family}", folder / "changed" / "model"
    if not sound.exists():
        (save_tiny_vision if family == "vit" else save_tiny)(family, sound)
    shutil.rmtree(copied.parent, ignore_errors=True)
    shutil.copytree(sound, copied)
    changed = mutated((copied / name).read_bytes(), chance)
    (copied / name).write_bytes(changed)
    return outcome(partial(_traced, family, copied), changed)


def _traced(family: str, folder: Path) -> None:
    """Load a model and run it on an input that it can read."""
    model = load_model(str(folder), device="cpu")
    if family == "vit":
        [picture] = (sequence.picture for sequence in image_sequences(family, 1))
        sequences = [image_sequence(0, picture, model.image_reader)]
    else:
        sequences = [text_of(model, "The cat sat.", 36)[0], *tiny_sequences(family)[:1]]
    trace_of(model, sequences)


def shown(content: bytes) -> None:
    """Read a collection, and make all downloads of it."""
    collection = collection_from(content)
    web, _ = web_page(collection), paper(collection)
    if "<script>alert" in web:
        raise Wrong("a script of a collection stands in its page")


def outcome(act: Callable[[], object], content: bytes) -> str:
    """Outcome of reading an input.

    Raises:
        Wrong: the outcome is neither a result nor one line, or took too much time or memory.
    """
    with suppress(OSError):  # Linux alone has it; elsewhere the peak since the start is exceeded
        Path("/proc/self/clear_refs").write_text("5")  # forgets the peak
    before = most_memory()
    try:
        with _time_limit(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            act()
    except (UserError, NotCollected) as error:
        message, ended = str(error), "refused in one line"
        if not message.strip() or "\n" in message:
            raise Wrong(f"told in other than one line: {message!r}") from error
    except Wrong:
        raise
    except Exception as error:
        raise Wrong(f"{_last_line(error)}; of {content[:2000]!r}") from error
    else:
        ended = "read"
    if (more := most_memory() - before) > MORE_MEMORY:
        raise Wrong(f"took {more} MiB; of {content[:2000]!r}")
    return ended


def _last_line(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename]
    place = ours[-1] if ours else frames[-1]
    return f"{type(error).__name__}: {str(error)[:300]} at {place.filename}:{place.lineno}"


def _written(folder: Path, content: bytes) -> str:
    path = folder / "input"
    path.write_bytes(content)
    return str(path)


def most_memory() -> int:
    """The most MiB that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 2**10


@contextmanager
def _time_limit() -> Iterator[None]:
    """Abort the block after some seconds of processor time."""

    def give_up(*_: object) -> NoReturn:
        raise Wrong(f"still going after {SECONDS} s")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

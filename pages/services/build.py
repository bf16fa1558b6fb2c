"""Build of the demo from the dashboard: one at a time, shown to every visitor."""

import shlex
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from pages.services.folder import is_read_only
from pages.services.note import Note, note_beside
from pages.words.numbers import count
from pages.words.say import plain, say

_SECONDS_BETWEEN_LOOKS = 1.0


@dataclass
class Build:
    """A started build: its process, and the last lines that it printed."""

    process: subprocess.Popen[str]
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=30))

    def listen(self) -> None:
        """Store the lines that the process prints until it ends."""
        for line in self.process.stdout or ():
            self.lines.append(line.rstrip())
        self.process.wait()


@dataclass
class _Workshop:
    """The only build of this server, locked so that two visitors cannot start two."""

    build: Build | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, output: Path) -> None:
        with self.lock:
            if self.build and self.build.process.poll() is None:
                return
            self.build = Build(
                subprocess.Popen(  # noqa: S603
                    [sys.executable, "-u", *_arguments(output)],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    stdin=subprocess.DEVNULL,
                    text=True,
                    errors="replace",
                    cwd=Path(__file__).parents[2],
                )
            )
            threading.Thread(target=self.build.listen, daemon=True).start()


def offer_demo(folder: Path) -> None:
    """Say that there is no file yet, and build the demo on request if readers may."""
    output = folder.resolve() / "demo.duckdb"
    st.title(say("build.title"))
    if is_read_only():
        st.markdown(say("build.not_here"))
        return
    st.markdown(say("build.explained", folder=plain(folder)))
    workshop = _workshop()
    if workshop.build is None or workshop.build.process.poll() is not None:
        _offer(workshop, output)
    else:
        _watch(output)
    st.markdown(say("build.by_hand"))
    st.code(shlex.join(["python", *_arguments(folder / "demo.duckdb")]), language="bash")


def _arguments(output: Path) -> list[str]:
    return ["-m", "precompute", "demo", "--output", str(output)]


@st.cache_resource(show_spinner=False)
def _workshop() -> _Workshop:
    return _Workshop()


def _offer(workshop: _Workshop, output: Path) -> None:
    if workshop.build and workshop.build.process.returncode:
        st.error(say("build.failed"))
        st.code("\n".join(list(workshop.build.lines)[-8:]), language=None, wrap_lines=True)
    if st.button(say("build.start"), type="primary"):
        workshop.start(output)
        st.rerun()


@st.fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def _watch(output: Path) -> None:
    """Show the progress of the build every second; redraw the page once there is a file."""
    build = _workshop().build
    if build is None or build.process.poll() is not None or output.exists():
        st.rerun()
    note = note_beside(output)
    if note is None:
        st.progress(0.0, say("build.starting"))
    else:
        st.progress(share_done(note), progress_of(note))


def share_done(note: Note) -> float:
    """Share of a stage that is done; 0 if it has no end that is known."""
    return min(note.done / note.total, 1.0) if note.total else 0.0


def progress_of(note: Note) -> str:
    """Sentence on a run in progress: its stage, what is done of it, and the time left."""
    stage, values = say(f"build.stage.{note.stage}"), {}
    if note.total:
        values = {"done": count(note.done), "total": count(note.total)}
    if values and note.seconds_left is not None:
        minutes = max(1, round(note.seconds_left / 60))
        return say("build.at_part_left", stage=stage, minutes=count(minutes), **values)
    return say("build.at_part" if values else "build.at", stage=stage, **values)

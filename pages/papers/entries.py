"""Every figure and table of the papers, in their order, with the section that shows it."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, eq=False)
class Entry:
    """A figure or table of a paper, as a record of `entries.toml`.

    Attributes:
        kind: figure or table; `rules` and `maps` are those of a paper that numbers none.
        page: folder of the page that shows it.
        view: its section there.
        figure: name of the figure, table or markup in that section; of several, the first there is.
        choices: names of options by key, in the order of preference: those of the paper, then what
            stands for them in another corpus.
        experiment: key of the experiment behind it, in `EXPERIMENTS`.
        printed: quantity of its printed numbers; empty if it has none that the pages show.
        cells: those of a notebook that printed the numbers, if they are not all of the quantity.
        first: fields of the printed numbers that come first on the page.
        printed_in: page and section that show these numbers, if these are others.
        only: property of the files that it is asked of, if there are others.
        claim: name of the function of `claims` that tests what the paper states; empty for diagrams
            and single examples.
    """

    paper: str
    kind: str
    number: int
    page: str
    view: str
    figure: str
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    experiment: str = ""
    printed: str = ""
    cells: Sequence[int] = ()
    first: Mapping[str, str] = field(default_factory=dict)
    printed_in: tuple[str, ...] = ()
    only: str = ""
    claim: str = ""

    @property
    def stem(self) -> str:
        """Kind and number: `figure_3`."""
        return f"{self.kind}_{self.number}" if self.number else self.kind

    @property
    def word(self) -> str:
        """Name of the word that says what it shows."""
        return f"{word_of(self.paper)}.{self.stem}"


def word_of(paper: str) -> str:
    """Key of a paper in the names of words."""
    return paper.replace("-", "_")


def _read() -> Iterator[Entry]:
    path = Path(__file__).with_name("entries.toml")
    for paper, entries in tomllib.loads(path.read_text(encoding="utf-8")).items():
        for stem, record in entries.items():
            kind, _, number = stem.partition("_")
            given: dict[str, Any] = {**record}
            part = given.pop("part", "")
            given["choices"] = {
                key: names.split() for key, names in given.pop("choices", {}).items()
            }
            given["printed_in"] = tuple(filter(None, given.pop("printed_in", "").split("/")))
            yield Entry(
                *(paper, kind, int(number or 0), *given.pop("shows").split("/")),
                experiment=f"{paper}, {part}" if part else paper,
                **given,
            )


ENTRIES = tuple(_read())
PAPERS = tuple(dict.fromkeys(entry.paper for entry in ENTRIES))
"""Keys of the papers, in the order of the page."""


def entries_of(paper: str) -> list[Entry]:
    """Figures and tables of a paper, in its order."""
    return [entry for entry in ENTRIES if entry.paper == paper]

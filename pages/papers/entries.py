"""Every figure and table of the five papers, in their order, with the section that shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

Kind = Literal["figure", "table", "rules", "maps"]
"""Figures and tables have numbers; `rules` and `maps` are those of a paper without them."""


@dataclass(frozen=True, eq=False)
class Entry:
    """A figure or table of a paper.

    Attributes:
        page: folder of the page that shows it.
        view: its section there.
        figure: name of the figure or markup in that section.
        choices: names of options by key, in the order of preference: those of the paper, then what
            stands for them in another corpus.
        experiment: key of the experiment behind it, in `EXPERIMENTS`.
        printed: quantity of its printed numbers; empty if it has none that the pages show.
        first: fields of the printed numbers that come first on the page.
        printed_in: section that shows these numbers, if it is another one.
        printed_on: page of that section, if it is another one.
        only: property of the files that it is asked of, if there are others.
        claim: name of the function of `claims` that tests what the paper states; empty for diagrams
            and single examples.
    """

    paper: str
    kind: Kind
    number: int
    page: str
    view: str
    figure: str
    choices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    experiment: str = ""
    printed: str = ""
    first: Mapping[str, str] = field(default_factory=dict)
    printed_in: str = ""
    printed_on: str = ""
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


def _chosen(**names: str) -> dict[str, list[str]]:
    """Names of options by key; several names of one are separated by spaces."""
    return {key: name.split(" ") for key, name in names.items()}


_NORMS = partial(Entry, "kobayashi-2020", experiment="kobayashi-2020", page="norms")
_LAYER = partial(Entry, "kobayashi-2024", experiment="kobayashi-2024", page="layer_mixing")
_LISTED = {"tp_effect": "ff", "tp_ranking": "mean", "tp_clear": "all", "tp_least": "2"}
_GROWING, _SHRINKING = (
    partial(
        _LAYER,
        "table",
        page="token_pairs",
        view="tables",
        figure=direction,
        choices=_chosen(**_LISTED, tp_special="in"),
        printed="pairs",
        claim=direction,
    )
    for direction in ("amplified", "attenuated")
)
_WAVES, _ONE_TEXT = (
    partial(Entry, "yamamoto-2023", experiment=f"yamamoto-2023, {part}", page="positions")
    for part in ("weights", "one text")
)
_ONE_HEAD = partial(_ONE_TEXT, "figure", page="head", view="waves")
_HABITS, _TREES, _MENTIONS = (
    partial(Entry, "clark-2019", experiment=f"clark-2019, {part}")
    for part in ("wikipedia", "treebank", "coreference")
)
_IMAGE = partial(
    Entry, "sawaki-2025", number=0, page="relevance", experiment="sawaki-2025", only="shows_images"
)

ENTRIES = (
    _NORMS("figure", 1, view="layers", figure="attention"),
    _NORMS(
        "table",
        1,
        view="transformation",
        figure="map",
        printed="value_norm",
        first={"statistic": "cv"},
        claim="norms_vary",
    ),
    _NORMS(
        "table",
        2,
        view="transformation",
        figure="layers",
        printed="input_norm",
        first={"statistic": "cv"},
        claim="norms_vary",
    ),
    _NORMS(
        "figure",
        2,
        view="transformation",
        figure="singular_values",
        choices=_chosen(an_spectrum="linear"),
        claim="transforms_stretch",
    ),
    _NORMS(
        "figure",
        3,
        view="relation",
        figure="pairs",
        choices=_chosen(an_level="pooled", an_scope="all", an_marks="sample"),
        claim="weight_against_norm",
    ),
    _NORMS(
        "table",
        3,
        view="relation",
        figure="parts",
        choices=_chosen(an_level="pooled", an_scope="all"),
        printed="correlation",
        first={"statistic": "spearman"},
        claim="weight_against_norm",
    ),
    _NORMS(
        "figure",
        4,
        view="heads",
        figure="maps",
        choices=_chosen(an_type="sep cls first comma_period"),
        claim="heads_against_norm",
    ),
    _NORMS(
        "figure",
        5,
        view="layers",
        figure="weighted_norm",
        choices=_chosen(an_layers_head="mean", an_quantity="pair"),
        claim="special_tokens_bring_little",
    ),
    _LAYER("figure", 1, view="ratio", figure="curves"),
    _LAYER("figure", 2, view="completeness", figure="question"),
    _LAYER(
        "figure",
        3,
        view="similarity",
        figure="matrix",
        choices=_chosen(lm_layer="mean"),
        printed="similarity",
        claim="network_changes_mixing",
    ),
    _GROWING(1),
    _SHRINKING(2),
    _GROWING(3),
    _SHRINKING(4),
    _ONE_TEXT(
        "figure",
        1,
        view="content",
        figure="grid",
        choices=_chosen(po_k="6"),
        claim="heads_keep_direction",
    ),
    _ONE_HEAD(2, view="offsets", figure="map", choices=_chosen(head="8-9")),
    _WAVES(
        "figure",
        3,
        only="adds_positions",
        view="waves",
        figure="spectrum",
        choices=_chosen(po_carrier="embeddings", po_scale="linear"),
        printed="position_spectrum",
        claim="embeddings_wave",
    ),
    _ONE_HEAD(
        4,
        figure="wave",
        only="adds_positions",
        choices=_chosen(head="1-1", he_direction="5"),
    ),
    _ONE_TEXT(
        "figure",
        5,
        only="adds_positions",
        view="waves",
        figure="maps",
        choices=_chosen(po_carrier="states", po_amount="max", po_source="query"),
        claim="waves_fade",
    ),
    _ONE_HEAD(
        6,
        figure="phases",
        only="adds_positions",
        choices=_chosen(head="2-3"),
        printed="query_key_phase",
        printed_in="claim",
        printed_on="positions",
    ),
    _ONE_HEAD(
        7,
        figure="correlations",
        only="adds_positions",
        choices=_chosen(head="1-1", he_counting="sum"),
        printed="query_key_correlation",
        printed_in="claim",
        printed_on="positions",
        claim="shift_predicts_attention",
    ),
    _WAVES(
        "figure",
        8,
        only="adds_positions",
        view="waves",
        figure="other_files",
        choices=_chosen(po_carrier="embeddings"),
    ),
    _WAVES(
        "figure",
        9,
        only="adds_positions",
        view="waves",
        figure="components",
        choices=_chosen(po_carrier="embeddings"),
        printed="position_variance",
        claim="few_components",
    ),
    _HABITS(
        "figure",
        1,
        page="habits",
        view="heads",
        figure="map_share",
        choices=_chosen(hh_weighing="weight", hh_quantity="next previous", hh_group="neighbours"),
        printed="head_pattern",
        printed_in="layers",
        claim="heads_on_neighbours",
    ),
    _HABITS(
        "figure",
        2,
        page="habits",
        view="layers",
        figure="question_special",
        choices=_chosen(hh_weighing="weight", hh_group="special"),
        claim="separators_over_marks",
    ),
    _HABITS(
        "figure",
        3,
        page="habits",
        view="matters",
        figure="gradients",
        choices=_chosen(hh_scale="linear"),
        claim="separators_matter_little",
    ),
    _HABITS(
        "figure",
        4,
        page="habits",
        view="layers",
        figure="question_breadth",
        choices=_chosen(hh_weighing="weight", hh_group="breadth"),
        printed="head_pattern",
        claim="low_layers_broad",
    ),
    _TREES(
        "table",
        1,
        page="syntax",
        view="relations",
        figure="rows",
        choices=_chosen(sy_weighing="weight", sy_merging="mean", sy_chosen_on="all", sy_least="10"),
        printed="dependency_accuracy",
        claim="relations_beat_offsets",
    ),
    _TREES(
        "figure",
        5,
        page="syntax",
        view="sentences",
        figure="drawing",
        choices=_chosen(sy_weighing="weight", sy_relation="dobj obj", head="best"),
    ),
    _MENTIONS(
        "table",
        2,
        page="coreference",
        view="rules",
        figure="bars",
        choices=_chosen(co_weighing="weight", co_merging="mean", co_chosen_on="all"),
        printed="coreference_accuracy",
        first={"mention_type": "all"},
        claim="head_beats_same_word",
    ),
    _TREES(
        "table",
        3,
        page="syntax",
        view="parsers",
        figure="chart",
        printed="parser_accuracy",
        claim="heads_beat_distances",
    ),
    _HABITS(
        "figure",
        6,
        page="head_map",
        view="map",
        figure="by_layer",
        choices=_chosen(hm_weighing="weight"),
        claim="layers_alike",
    ),
    _IMAGE("rules", view="methods", figure="over_image", claim="values_beat_rollout"),
    _IMAGE("maps", view="map", figure="grid", choices=_chosen(re_rule="ii")),
)
PAPERS = tuple(dict.fromkeys(entry.paper for entry in ENTRIES))
"""Keys of the papers, in the order of the page."""


def entries_of(paper: str) -> list[Entry]:
    """Figures and tables of a paper, in its order."""
    return [entry for entry in ENTRIES if entry.paper == paper]

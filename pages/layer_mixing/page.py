"""What every module of a layer does to the mixing of tokens (Kobayashi et al. 2021 and 2024)."""

from pages.layer_mixing import (
    completeness,
    frequency,
    gates,
    modules,
    ratio,
    rollout,
    similarity,
    vectors,
)
from pages.layer_mixing.anatomy import anatomy
from pages.ui.page import Page
from pages.ui.store.absences import absences

PAGE = Page(
    "layer_mixing",
    "lm",
    (
        similarity.similarity,
        ratio.ratio,
        frequency.frequency,
        modules.modules,
        rollout.across_layers,
        vectors.vectors,
        gates.gates,
        completeness.completeness,
    ),
    before=(absences, anatomy),
)
PAGE.show()

"""What every module of a layer does to the mixing of tokens (Kobayashi et al. 2021 and 2024)."""

from pages.layer_mixing import (
    completeness,
    frequency,
    modules,
    ratio,
    rollout,
    similarity,
    vectors,
)
from pages.layer_mixing.anatomy import anatomy
from pages.ui.page import Page, whole
from pages.ui.store.absences import absences

PAGE = Page(
    "layer_mixing",
    "lm",
    (
        whole("similarity", similarity.show),
        ratio.ratio,
        frequency.frequency,
        whole("modules", modules.show),
        whole("rollout", rollout.show),
        whole("vectors", vectors.show),
        completeness.completeness,
    ),
    before=(absences, anatomy),
)
PAGE.show()

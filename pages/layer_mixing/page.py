"""Page on the effect of every module of a layer on mixing (Kobayashi et al. 2021 and 2024)."""

from pages.layer_mixing.anatomy import anatomy
from pages.layer_mixing.completeness import completeness
from pages.layer_mixing.frequency import frequency
from pages.layer_mixing.modules import modules
from pages.layer_mixing.ratio import ratio
from pages.layer_mixing.rollout import across_layers
from pages.layer_mixing.similarity import similarity
from pages.layer_mixing.vectors import vectors
from pages.ui.page import Page
from pages.ui.store.absences import absences

SECTIONS = (similarity, ratio, frequency, modules, across_layers, vectors, completeness)
PAGE = Page("layer_mixing", "lm", SECTIONS, before=(absences, anatomy))

if __name__ == "__main__":
    PAGE.show()

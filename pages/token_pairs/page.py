"""Page on token pairs whose mixing a layer's modules change most (Kobayashi et al. 2024)."""

from pages.token_pairs.all_layers import all_layers
from pages.token_pairs.pmi import pmi
from pages.token_pairs.workbench import workbench
from pages.ui.page import Page
from pages.ui.store.absences import absences

SECTIONS = (workbench, all_layers, pmi)
MOVED = {"layer": "workbench", "browse": "workbench", "pair": "workbench"}
PAGE = Page("token_pairs", "tp", SECTIONS, before=(absences,), moved=MOVED)

if __name__ == "__main__":
    PAGE.show()

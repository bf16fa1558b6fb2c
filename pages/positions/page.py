"""Page on the position dependence of attention (Yamamoto and Matsuzaki 2023)."""

from pages.positions.claim import claim
from pages.positions.heads import heads
from pages.positions.patches import patches
from pages.positions.shares import shares
from pages.positions.spectra.embeddings import embeddings
from pages.positions.spectra.states import states
from pages.ui.page import Page
from pages.ui.store.absences import order_of_patches

PAGE = Page(
    "positions",
    "po",
    (claim, heads, patches, shares, states, embeddings),
    before=(order_of_patches,),
    moved={"heads": "patches"},
)

if __name__ == "__main__":
    PAGE.show()

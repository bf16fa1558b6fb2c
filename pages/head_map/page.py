"""Page on heads of one model that attend alike (Clark et al. 2019)."""

from pages.head_map.groups import groups
from pages.head_map.layers import layers
from pages.head_map.map import plane
from pages.ui.page import Page
from pages.ui.store.absences import order_of_patches

SECTIONS = (plane, groups, layers)
MOVED = {"weighing": "map", "distances": "groups"}
PAGE = Page("head_map", "hm", SECTIONS, before=(order_of_patches,), moved=MOVED)

if __name__ == "__main__":
    PAGE.show()

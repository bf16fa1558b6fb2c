"""Page on habits of heads: targets, entropy and importance of attention (Clark et al. 2019)."""

from pages.habits.breadth import breadth
from pages.habits.effect import effect
from pages.habits.gradients import gradients
from pages.habits.heads import heads
from pages.habits.layers import layers
from pages.ui.page import Page
from pages.ui.store.absences import absences

SECTIONS = (layers, breadth, gradients, effect, heads)
PAGE = Page("habits", "hh", SECTIONS, before=(absences,), moved={"weighing": "heads"})

if __name__ == "__main__":
    PAGE.show()

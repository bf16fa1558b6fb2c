"""What heads look at: where to, how broadly, and what of it counts (Clark et al. 2019)."""

from pages.head_habits import breadth, gradients, heads, layers, one_head, weighing
from pages.ui.page import Page
from pages.ui.store.absences import absences

PAGE = Page(
    "head_habits",
    "hh",
    (
        layers.layers,
        breadth.breadth,
        gradients.gradients,
        heads.heads,
        one_head.one_head,
        weighing.weighing,
    ),
    before=(absences,),
)
PAGE.show()

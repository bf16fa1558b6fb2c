"""Page on attention sinks and their causes (Xiao 2024, Gu 2025, Sun 2024)."""

from pages.sinks import heads, layers, no_token, nothing, scores
from pages.ui.page import Page
from pages.ui.store.absences import absences

PAGE = Page(
    "sinks",
    "si",
    (
        layers.layers,
        heads.heads,
        no_token.no_token,
        nothing.nothing,
        scores.scores,
    ),
    before=(absences,),
    moved={"activations": "scores"},
)

if __name__ == "__main__":
    PAGE.show()

"""Which pairs of tokens a layer's modules mix more, and which less (Kobayashi et al. 2024)."""

from pages.token_pairs import all_layers, browse, one_layer, one_pair, pmi
from pages.token_pairs.choices import follow_clicks
from pages.ui.page import Page
from pages.ui.store.absences import absences

PAGE = Page(
    "token_pairs",
    "tp",
    (
        all_layers.all_layers,
        one_layer.one_layer,
        browse.browse,
        one_pair.one_pair,
        pmi.pmi,
    ),
    before=(follow_clicks, absences),
)
PAGE.show()

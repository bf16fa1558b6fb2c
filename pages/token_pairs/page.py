"""Which pairs of tokens a layer's modules mix more, and which less (Kobayashi et al. 2024)."""

from pages.token_pairs.all_layers import all_layers
from pages.token_pairs.browse import browse
from pages.token_pairs.choices import follow_clicks
from pages.token_pairs.one_layer import one_layer
from pages.token_pairs.one_pair import one_pair
from pages.token_pairs.pmi import pmi
from pages.ui.page import Page
from pages.ui.store.absences import absences

SECTIONS = (all_layers, one_layer, browse, one_pair, pmi)
PAGE = Page("token_pairs", "tp", SECTIONS, before=(follow_clicks, absences))
PAGE.show()

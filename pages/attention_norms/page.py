"""What attention weights say, and what norms take back (Kobayashi et al. 2020)."""

from pages.attention_norms import dispersion, frequency, head, heads, layers, relation, spectra
from pages.ui.page import Page
from pages.ui.store.absences import absences

PAGE = Page(
    "attention_norms",
    "an",
    (
        layers.layers,
        heads.heads,
        head.head,
        relation.relation,
        dispersion.dispersion,
        spectra.spectra,
        frequency.frequency,
    ),
    before=(absences,),
)
PAGE.show()

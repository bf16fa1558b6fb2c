"""Page on attention weights compared with the norms of weighted vectors (Kobayashi et al. 2020)."""

from pages.attention_norms.dispersion import dispersion
from pages.attention_norms.frequency import frequency
from pages.attention_norms.head import head
from pages.attention_norms.heads import heads
from pages.attention_norms.layers import layers
from pages.attention_norms.relation import relation
from pages.attention_norms.spectra import spectra
from pages.ui.page import Page
from pages.ui.store.absences import absences

SECTIONS = (layers, heads, head, relation, dispersion, spectra, frequency)
PAGE = Page("attention_norms", "an", SECTIONS, before=(absences,))

if __name__ == "__main__":
    PAGE.show()

"""The papers the measures come from, by the key that docstrings and tables cite."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A source: who wrote it, when, what it is called and where it is found."""

    authors: str
    year: int
    title: str
    url: str


PAPERS = {
    "kobayashi-2020": Paper(
        "Kobayashi, Kuribayashi, Yokoi, Inui",
        2020,
        "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms",
        "https://aclanthology.org/2020.emnlp-main.574/",
    ),
    "clark-2019": Paper(
        "Clark, Khandelwal, Levy, Manning",
        2019,
        "What Does BERT Look At? An Analysis of BERT's Attention",
        "https://aclanthology.org/W19-4828/",
    ),
    "efron-1979": Paper(
        "Efron",
        1979,
        "Bootstrap Methods: Another Look at the Jackknife",
        "https://doi.org/10.1214/aos/1176344552",
    ),
}

"""The papers the measures come from, by the key that docstrings and tables cite."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A source: authors by family names, year, title and address."""

    authors: str
    year: int
    title: str
    url: str


_LISTED = """
kobayashi-2020: Kobayashi, Kuribayashi, Yokoi, Inui
    Attention is Not Only a Weight: Analyzing Transformers with Vector Norms
    https://aclanthology.org/2020.emnlp-main.574/
clark-2019: Clark, Khandelwal, Levy, Manning
    What Does BERT Look At? An Analysis of BERT's Attention
    https://aclanthology.org/W19-4828/
efron-1979: Efron
    Bootstrap Methods: Another Look at the Jackknife
    https://doi.org/10.1214/aos/1176344552
robinson-1950: Robinson
    Ecological Correlations and the Behavior of Individuals
    https://doi.org/10.2307/2087176
kobayashi-2021: Kobayashi, Kuribayashi, Yokoi, Inui
    Incorporating Residual and Normalization Layers into Analysis of Masked Language Models
    https://aclanthology.org/2021.emnlp-main.373/
kobayashi-2024: Kobayashi, Kuribayashi, Yokoi, Inui
    Analyzing Feed-Forward Blocks in Transformers through the Lens of Attention Maps
    https://arxiv.org/abs/2302.00456
sundararajan-2017: Sundararajan, Taly, Yan
    Axiomatic Attribution for Deep Networks
    https://proceedings.mlr.press/v70/sundararajan17a.html
abnar-2020: Abnar, Zuidema
    Quantifying Attention Flow in Transformers
    https://aclanthology.org/2020.acl-main.385/
modarressi-2022: Modarressi, Fayyaz, Yaghoobzadeh, Pilehvar
    GlobEnc: Quantifying Global Token Attribution by Incorporating the Whole Encoder Layer in
    Transformers
    https://aclanthology.org/2022.naacl-main.19/
modarressi-2023: Modarressi, Fayyaz, Aghazadeh, Yaghoobzadeh, Pilehvar
    DecompX: Explaining Transformers Decisions by Propagating Token Decomposition
    https://aclanthology.org/2023.acl-long.149/
su-2021: Su, Lu, Pan, Murtadha, Wen, Liu
    RoFormer: Enhanced Transformer with Rotary Position Embedding
    https://arxiv.org/abs/2104.09864
he-2021: He, Liu, Gao, Chen
    DeBERTa: Decoding-enhanced BERT with Disentangled Attention
    https://arxiv.org/abs/2006.03654
raffel-2020: Raffel, Shazeer, Roberts, Lee, Narang, Matena, Zhou, Li, Liu
    Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer
    https://arxiv.org/abs/1910.10683
yamamoto-2023: Yamamoto, Matsuzaki
    自己注意機構における注意の集中が相対位置に依存する仕組み
    https://www.anlp.jp/proceedings/annual_meeting/2023/
kruskal-1964: Kruskal
    Multidimensional Scaling by Optimizing Goodness of Fit to a Nonmetric Hypothesis
    https://doi.org/10.1007/BF02289565
sokal-1958: Sokal, Michener
    A Statistical Method for Evaluating Systematic Relationships
    https://archive.org/details/cbarchive_33927_astatisticalmethodforevaluatin1902
mantel-1967: Mantel
    The Detection of Disease Clustering and a Generalized Regression Approach
    https://aacrjournals.org/cancerres/article/27/2_Part_1/209/476508
bell-2002: Bell, McCaffrey
    Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples
    https://www150.statcan.gc.ca/n1/en/catalogue/12-001-X20020029058
church-1990: Church, Hanks
    Word Association Norms, Mutual Information, and Lexicography
    https://aclanthology.org/J90-1003/
croux-2010: Croux, Dehon
    Influence Functions of the Spearman and Kendall Correlation Measures
    https://doi.org/10.1007/s10260-010-0142-z
aronow-2015: Aronow, Samii, Assenova
    Cluster-Robust Variance Estimation for Dyadic Data
    https://doi.org/10.1093/pan/mpv018
lee-2011: Lee, Peirsman, Chang, Chambers, Surdeanu, Jurafsky
    Stanford's Multi-Pass Sieve Coreference Resolution System at the CoNLL-2011 Shared Task
    https://aclanthology.org/W11-1902/
bach-2015: Bach, Binder, Montavon, Klauschen, Müller, Samek
    On Pixel-Wise Explanations for Non-Linear Classifier Decisions by Layer-Wise Relevance
    Propagation
    https://doi.org/10.1371/journal.pone.0130140
montavon-2019: Montavon, Binder, Lapuschkin, Samek, Müller
    Layer-Wise Relevance Propagation: An Overview
    https://doi.org/10.1007/978-3-030-28954-6_10
chefer-2021: Chefer, Gur, Wolf
    Generic Attention-Model Explainability for Interpreting Bi-Modal and Encoder-Decoder
    Transformers
    https://arxiv.org/abs/2103.15679
zhang-2018: Zhang, Bargal, Lin, Brandt, Shen, Sclaroff
    Top-Down Neural Attention by Excitation Backprop
    https://doi.org/10.1007/s11263-017-1059-x
petsiuk-2018: Petsiuk, Das, Saenko
    RISE: Randomized Input Sampling for Explanation of Black-Box Models
    https://arxiv.org/abs/1806.07421
sawaki-2025: Sawaki, Murata
    Transformer モデルにおけるトークン間関連度の再配分
    https://confit.atlas.jp/guide/event/jsai2025/subject/4I1-GS-11-03/classlist
xiao-2024: Xiao, Tian, Chen, Han, Lewis
    Efficient Streaming Language Models with Attention Sinks
    https://arxiv.org/abs/2309.17453
sun-2024: Sun, Chen, Kolter, Liu
    Massive Activations in Large Language Models
    https://arxiv.org/abs/2402.17762
gu-2025: Gu, Pang, Du, Liu, Zhang, Du, Wang, Lin
    When Attention Sink Emerges in Language Models: An Empirical View
    https://arxiv.org/abs/2410.10781
openai-2025: OpenAI
    gpt-oss-120b & gpt-oss-20b Model Card
    https://arxiv.org/abs/2508.10925
michel-2019: Michel, Levy, Neubig
    Are Sixteen Heads Really Better than One?
    https://arxiv.org/abs/1905.10650
wang-2023: Wang, Variengien, Conmy, Shlegeris, Steinhardt
    Interpretability in the Wild: a Circuit for Indirect Object Identification in GPT-2 Small
    https://arxiv.org/abs/2211.00593
cunningham-2026: Cunningham, Muca Cirone
    Contribution Weights: A Geometrical Analysis of Self-Attention Transformers
    https://arxiv.org/abs/2606.07604
goldberg-1991: Goldberg
    What Every Computer Scientist Should Know About Floating-Point Arithmetic
    https://doi.org/10.1145/103162.103163
"""
"""Key, which ends with the year, and authors; title; address."""


def _papers() -> dict[str, Paper]:
    papers = {}
    for entry in re.split(r"\n(?=\S)", _LISTED.strip()):
        first, *title, url = map(str.strip, entry.split("\n"))
        key, authors = first.split(": ")
        papers[key] = Paper(authors, int(key[-4:]), " ".join(title), url)
    return papers


PAPERS = _papers()

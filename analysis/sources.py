"""The papers the measures come from, by the key that docstrings and tables cite."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A source: authors by family names, year, title and address."""

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
    "robinson-1950": Paper(
        "Robinson",
        1950,
        "Ecological Correlations and the Behavior of Individuals",
        "https://doi.org/10.2307/2087176",
    ),
    "kobayashi-2021": Paper(
        "Kobayashi, Kuribayashi, Yokoi, Inui",
        2021,
        "Incorporating Residual and Normalization Layers into Analysis of Masked Language Models",
        "https://aclanthology.org/2021.emnlp-main.373/",
    ),
    "kobayashi-2024": Paper(
        "Kobayashi, Kuribayashi, Yokoi, Inui",
        2024,
        "Analyzing Feed-Forward Blocks in Transformers through the Lens of Attention Maps",
        "https://arxiv.org/abs/2302.00456",
    ),
    "sundararajan-2017": Paper(
        "Sundararajan, Taly, Yan",
        2017,
        "Axiomatic Attribution for Deep Networks",
        "https://proceedings.mlr.press/v70/sundararajan17a.html",
    ),
    "abnar-2020": Paper(
        "Abnar, Zuidema",
        2020,
        "Quantifying Attention Flow in Transformers",
        "https://aclanthology.org/2020.acl-main.385/",
    ),
    "modarressi-2022": Paper(
        "Modarressi, Fayyaz, Yaghoobzadeh, Pilehvar",
        2022,
        "GlobEnc: Quantifying Global Token Attribution by Incorporating the Whole Encoder Layer in "
        "Transformers",
        "https://aclanthology.org/2022.naacl-main.19/",
    ),
    "modarressi-2023": Paper(
        "Modarressi, Fayyaz, Aghazadeh, Yaghoobzadeh, Pilehvar",
        2023,
        "DecompX: Explaining Transformers Decisions by Propagating Token Decomposition",
        "https://aclanthology.org/2023.acl-long.149/",
    ),
    "su-2021": Paper(
        "Su, Lu, Pan, Murtadha, Wen, Liu",
        2021,
        "RoFormer: Enhanced Transformer with Rotary Position Embedding",
        "https://arxiv.org/abs/2104.09864",
    ),
    "he-2021": Paper(
        "He, Liu, Gao, Chen",
        2021,
        "DeBERTa: Decoding-enhanced BERT with Disentangled Attention",
        "https://arxiv.org/abs/2006.03654",
    ),
    "raffel-2020": Paper(
        "Raffel, Shazeer, Roberts, Lee, Narang, Matena, Zhou, Li, Liu",
        2020,
        "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
        "https://arxiv.org/abs/1910.10683",
    ),
    "yamamoto-2023": Paper(
        "Yamamoto, Matsuzaki",
        2023,
        "自己注意機構における注意の集中が相対位置に依存する仕組み",
        "https://www.anlp.jp/proceedings/annual_meeting/2023/",
    ),
    "kruskal-1964": Paper(
        "Kruskal",
        1964,
        "Multidimensional Scaling by Optimizing Goodness of Fit to a Nonmetric Hypothesis",
        "https://doi.org/10.1007/BF02289565",
    ),
    "sokal-1958": Paper(
        "Sokal, Michener",
        1958,
        "A Statistical Method for Evaluating Systematic Relationships",
        "https://archive.org/details/cbarchive_33927_astatisticalmethodforevaluatin1902",
    ),
    "mantel-1967": Paper(
        "Mantel",
        1967,
        "The Detection of Disease Clustering and a Generalized Regression Approach",
        "https://aacrjournals.org/cancerres/article/27/2_Part_1/209/476508",
    ),
    "bell-2002": Paper(
        "Bell, McCaffrey",
        2002,
        "Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples",
        "https://www150.statcan.gc.ca/n1/en/catalogue/12-001-X20020029058",
    ),
    "church-1990": Paper(
        "Church, Hanks",
        1990,
        "Word Association Norms, Mutual Information, and Lexicography",
        "https://aclanthology.org/J90-1003/",
    ),
    "croux-2010": Paper(
        "Croux, Dehon",
        2010,
        "Influence Functions of the Spearman and Kendall Correlation Measures",
        "https://doi.org/10.1007/s10260-010-0142-z",
    ),
    "aronow-2015": Paper(
        "Aronow, Samii, Assenova",
        2015,
        "Cluster-Robust Variance Estimation for Dyadic Data",
        "https://doi.org/10.1093/pan/mpv018",
    ),
    "lee-2011": Paper(
        "Lee, Peirsman, Chang, Chambers, Surdeanu, Jurafsky",
        2011,
        "Stanford's Multi-Pass Sieve Coreference Resolution System at the CoNLL-2011 Shared Task",
        "https://aclanthology.org/W11-1902/",
    ),
    "bach-2015": Paper(
        "Bach, Binder, Montavon, Klauschen, Müller, Samek",
        2015,
        "On Pixel-Wise Explanations for Non-Linear Classifier Decisions by Layer-Wise Relevance "
        "Propagation",
        "https://doi.org/10.1371/journal.pone.0130140",
    ),
    "montavon-2019": Paper(
        "Montavon, Binder, Lapuschkin, Samek, Müller",
        2019,
        "Layer-Wise Relevance Propagation: An Overview",
        "https://doi.org/10.1007/978-3-030-28954-6_10",
    ),
    "chefer-2021": Paper(
        "Chefer, Gur, Wolf",
        2021,
        "Generic Attention-Model Explainability for Interpreting Bi-Modal and Encoder-Decoder "
        "Transformers",
        "https://arxiv.org/abs/2103.15679",
    ),
    "zhang-2018": Paper(
        "Zhang, Bargal, Lin, Brandt, Shen, Sclaroff",
        2018,
        "Top-Down Neural Attention by Excitation Backprop",
        "https://doi.org/10.1007/s11263-017-1059-x",
    ),
    "petsiuk-2018": Paper(
        "Petsiuk, Das, Saenko",
        2018,
        "RISE: Randomized Input Sampling for Explanation of Black-Box Models",
        "https://arxiv.org/abs/1806.07421",
    ),
    "sawaki-2025": Paper(
        "Sawaki, Murata",
        2025,
        "Transformer モデルにおけるトークン間関連度の再配分",
        "https://confit.atlas.jp/guide/event/jsai2025/subject/4I1-GS-11-03/classlist",
    ),
    "xiao-2024": Paper(
        "Xiao, Tian, Chen, Han, Lewis",
        2024,
        "Efficient Streaming Language Models with Attention Sinks",
        "https://arxiv.org/abs/2309.17453",
    ),
    "sun-2024": Paper(
        "Sun, Chen, Kolter, Liu",
        2024,
        "Massive Activations in Large Language Models",
        "https://arxiv.org/abs/2402.17762",
    ),
    "gu-2025": Paper(
        "Gu, Pang, Du, Liu, Zhang, Du, Wang, Lin",
        2025,
        "When Attention Sink Emerges in Language Models: An Empirical View",
        "https://arxiv.org/abs/2410.10781",
    ),
    "openai-2025": Paper(
        "OpenAI",
        2025,
        "gpt-oss-120b & gpt-oss-20b Model Card",
        "https://arxiv.org/abs/2508.10925",
    ),
    "michel-2019": Paper(
        "Michel, Levy, Neubig",
        2019,
        "Are Sixteen Heads Really Better than One?",
        "https://arxiv.org/abs/1905.10650",
    ),
    "wang-2023": Paper(
        "Wang, Variengien, Conmy, Shlegeris, Steinhardt",
        2023,
        "Interpretability in the Wild: a Circuit for Indirect Object Identification in GPT-2 Small",
        "https://arxiv.org/abs/2211.00593",
    ),
    "cunningham-2026": Paper(
        "Cunningham, Muca Cirone",
        2026,
        "Contribution Weights: A Geometrical Analysis of Self-Attention Transformers",
        "https://arxiv.org/abs/2606.07604",
    ),
    "goldberg-1991": Paper(
        "Goldberg",
        1991,
        "What Every Computer Scientist Should Know About Floating-Point Arithmetic",
        "https://doi.org/10.1145/103162.103163",
    ),
}

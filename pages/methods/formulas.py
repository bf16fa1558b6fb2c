"""The formulas that every page rests on, and the symbols; mathematics needs no translation."""

BLOCK = r"""
\boldsymbol{y}_i \;=\; \sum_{h=1}^{H} \sum_{j=1}^{n} \alpha^{h}_{ij}\, f^{h}(\boldsymbol{x}_j)
\;+\; \boldsymbol{b}_O
"""
PARTS = r"""
f^{h}(\boldsymbol{x}) = (\boldsymbol{x} W_V^{h} + \boldsymbol{b}_V^{h})\, W_O^{h},
\qquad
\lVert \alpha^{h}_{ij} f^{h}(\boldsymbol{x}_j) \rVert = \alpha^{h}_{ij}\,
\lVert f^{h}(\boldsymbol{x}_j) \rVert
"""


LAYER = {
    "sum": r"""
\boldsymbol{y}_i \;=\; \sum_{j=1}^{n} F_i(\boldsymbol{x}_j) \;+\; \boldsymbol{c}_i
""",
    "attention": r"""
\boldsymbol{v}_{ij} \;=\; \sum_{h=1}^{H} \alpha^{h}_{ij}\, f^{h}(\boldsymbol{x}_j)
\;+\; [\,i = j\,]\; \boldsymbol{x}_j
""",
    "normalisation": r"""
\boldsymbol{z}_{ij} \;=\; \frac{\boldsymbol{v}_{ij} - \mathrm{mean}(\boldsymbol{v}_{ij})
\,\boldsymbol{1}}{s_i} \odot \boldsymbol{\gamma}, \qquad s_i = \sqrt{\mathrm{var}\Bigl(
\sum_{j} \boldsymbol{v}_{ij} + \boldsymbol{b}_O \Bigr) + \varepsilon}
""",
    "activation": r"""
\boldsymbol{p}_{ij} = \boldsymbol{z}_{ij} W_1 \;\longmapsto\;
\boldsymbol{g}_i \odot \boldsymbol{p}_{ij}, \qquad
\boldsymbol{g}_i = \int_0^1 \mathrm{act}'(t\, \boldsymbol{h}_i)\, dt
= \frac{\mathrm{act}(\boldsymbol{h}_i) - \mathrm{act}(\boldsymbol{0})}{\boldsymbol{h}_i}
""",
    "norms": r"""
\Bigl\lVert \sum_{t} a_{it}\, \boldsymbol{u}_{jt} \Bigr\rVert^2 \;=\;
\sum_{t, t'} a_{it}\, a_{it'}\, \langle \boldsymbol{u}_{jt}, \boldsymbol{u}_{jt'} \rangle
""",
    "pre_norm": r"""
\boldsymbol{v}_{ij} = \sum_{h=1}^{H} \alpha^{h}_{ij}\, f^{h}\bigl(\mathrm{LN}_1(\boldsymbol{x}_j)
\bigr) + [\,i = j\,]\; \boldsymbol{x}_j, \qquad
F_i(\boldsymbol{x}_j) = \bigl(\boldsymbol{g}_i \odot \boldsymbol{z}_{ij} W_1\bigr)\, W_2
\;+\; \boldsymbol{v}_{ij}
""",
}
GLOSSARY = {
    "layer": r"$\ell$",
    "head": r"$h$",
    "query": r"$i$",
    "key": r"$j$",
    "weight": r"$\alpha_{ij}$",
    "value": r"$f(\boldsymbol{x}_j)$",
    "norm": r"$\|\cdot\|$",
    "weighted": r"$\|\alpha f(\boldsymbol{x})\|$",
    "stream": r"$\boldsymbol{x}$",
    "rho": r"$\rho$",
    "cv": r"$\mathrm{CV}$",
    "singular": r"$\sigma_k$",
    "scope": r"$F_i$",
    "ratio": r"$r_i$",
    "delta": r"$\delta_{ij}$",
    "pmi": r"$\mathrm{PMI}$",
    "relevance": r"$R_j$",
    "patch": r"$p$",
    "mask": r"$m_p$",
    "interval": "—",
}

"""Names around the effect of heads: parts of a layer's update, and what is measured of them."""

REST = ("network", "residual", "bias")
"""Parts beside attention: the network with its biases, what normalisations change of the token
itself, and biases of attention and of normalisations."""
PARTS = ("head", "token_type", *REST)
"""Parts of a layer's update: heads and the rest make it up, and so do types of tokens and the
rest."""
OF_PARTS = ("share", "length", "norm")
MEAN, ZERO = "mean", "zero"
FILLINGS = (MEAN, ZERO)
"""Values put in place of replaced ones."""
CHANGES = ("cosine_distance", "length", "divergence", "loss")
"""Changes by a replacement, all 0 without one; a loss may fall."""
RANDOM = "random"
MEASURES = ("weight", "weighted_norm", "norm", "share", "length", "gradient")
"""Measures of heads that may foretell the effect of a head; `RANDOM` is what chance foretells."""
LEVELS = ("layer", "within", "between", "all")
"""Heads that are ranked: of one layer, of each layer with the mean over layers, layers by the mean
of their heads, and all heads together."""

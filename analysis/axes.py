"""The names of tensor axes. Every shape written in the project is made of these words."""

AXES = {
    "batch": "sequence within one forward pass",
    "head": "attention head, counted from 0",
    "query": "token that attends; always the axis before `key`",
    "key": "token that is attended to",
    "token": "position in the sequence, special tokens included",
    "width": "width of the residual stream, d in the papers",
    "head_width": "width of one head, d' in the papers; head * head_width = width",
    "hidden": "width of a feed-forward network's hidden layer, m in the papers",
    "scope": "how much of a layer is counted in, in the order of `analysis.scopes.SCOPES`",
    "effect": "what a step changes, in the order of `analysis.scopes.EFFECTS`",
    "relation": "how two tokens relate, in the order of `analysis.scopes.RELATIONS`",
    "term": "one head's f(x), or x itself as what the residual carries",
    "one": "an axis of length 1, kept so that shapes fit",
    "rank": "place in a descending order, counted from 0",
    "sequence": "sequence of the corpus",
    "cell": "one combination of what means are told apart by, such as layer and token type",
    "resample": "one bootstrap resample of the sequences",
    "value": "one of a list of numbers",
    "row": "one row of a table",
}

"""The names of tensor axes. Every shape written in the project is made of these words."""

AXES = {
    "batch": "sequence within one forward pass",
    "head": "attention head, counted from 0",
    "query": "token that attends; always the axis before `key`",
    "key": "token that is attended to",
    "token": "position in the sequence, special tokens included",
    "width": "width of the residual stream, d in the papers",
    "head_width": "width of one head, d' in the papers; head * head_width = width",
    "rank": "place in a descending order, counted from 0",
    "sequence": "sequence of the corpus",
    "cell": "one combination of layer, head, token type and quantity",
    "resample": "one bootstrap resample of the sequences",
    "value": "one of a list of numbers",
    "row": "one row of a table",
}

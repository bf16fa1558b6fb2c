"""How much of a layer is counted in, and what each module changes: names without arithmetic."""

SCOPES = (
    "attn_w",
    "attn",
    "attn_res",
    "attn_res_ln",
    "attn_res_ln_ff",
    "attn_res_ln_ff_res",
    "attn_res_ln_ff_res_ln",
)
EFFECTS = {
    "res_ln": ("attn", "attn_res_ln"),
    "ff": ("attn_res_ln", "attn_res_ln_ff"),
    "ff_res": ("attn_res_ln_ff", "attn_res_ln_ff_res"),
    "ff_ln": ("attn_res_ln_ff_res", "attn_res_ln_ff_res_ln"),
}
"""Each effect as the scope before it and the scope after it."""
RELATIONS = ("special", "same_word", "word_pieces", "adjacent", "same_segment", "other_segment")
"""How two tokens of a sequence relate; the first name that fits is the pair's relation."""

"""Mixing ratios as the notebook of the paper of 2021 printed them, by scope."""

POOLED = {
    "attn_w": "96.41 99.99 45.04",
    "attn_w_res": "48.21 49.99 22.52",
    "attn": "85.28 99.96 4.89",
    "attn_res": "22.25 65.7 2.04",
    "attn_res_ln": "18.75 61.25 1.27",
}
"""Mean, greatest and least over all tokens and layers, in per cent."""

BY_LAYER = {
    ("attn_w", 23): {
        "all": "97 96 96 97 97 97 97 97 97 96 94 95",
        "cls": "93 66 62 85 98 99 99 99 99 99 99 99",
        "sep": "90 95 97 78 56 56 56 55 57 80 92 90",
        "mask": "92 93 96 97 97 97 97 98 98 99 99 99",
        "other": "98 97 96 97 98 98 98 98 98 96 93 94",
    },
    ("attn_w_res", 27): {
        "all": "48 48 48 48 49 49 49 49 49 48 47 47",
        "cls": "46 33 31 42 49 50 50 49 50 49 49 50",
        "sep": "45 48 49 39 28 28 28 28 28 40 46 45",
        "mask": "46 47 48 48 49 49 49 49 49 49 50 50",
        "other": "49 48 48 49 49 49 49 49 49 48 46 47",
    },
    ("attn", 25): {
        "all": "91 87 85 91 90 91 91 92 89 81 71 64",
        "cls": "91 63 70 93 92 98 98 94 96 95 94 99",
        "sep": "68 75 89 77 65 60 68 60 71 92 92 91",
        "mask": "92 93 94 94 91 92 94 95 93 95 96 93",
        "other": "92 87 84 90 90 92 91 92 88 79 67 59",
    },
    ("attn_res", 29): {
        "all": "28 27 25 25 24 23 22 23 20 20 17 14",
        "cls": "22 13 17 27 27 26 26 16 23 26 21 44",
        "sep": "22 19 19 11 8 6 8 6 11 35 32 23",
        "mask": "30 36 30 31 29 30 29 32 25 21 17 14",
        "other": "28 26 24 25 23 23 22 22 19 20 16 13",
    },
    ("attn_res_ln", 31): {
        "all": "24 20 19 21 19 20 20 20 17 19 15 11",
        "cls": "15 5 8 16 18 20 20 11 15 21 17 39",
        "sep": "15 12 12 3 2 2 2 2 3 18 15 21",
        "mask": "15 17 16 21 21 25 25 30 25 22 19 10",
        "other": "25 20 19 21 20 20 19 19 17 18 15 11",
    },
}
"""Ratios by scope and cell of the notebook, then by token type: layers 1 to 12, in whole per
cent."""

WITH_FREQUENCY = {
    "attn_w": "0.159 0.144",
    "attn": "-0.387 -0.413",
    "attn_w_res": "0.159 0.144",
    "attn_res": "-0.839 -0.860",
    "attn_res_ln": "-0.544 -0.577",
}
"""Rank correlation of frequency rank (1 = most frequent) and ratio, of all tokens and without [CLS]
and [SEP]; nothing was masked for it."""

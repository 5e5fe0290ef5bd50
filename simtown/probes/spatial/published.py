"""What Ghanimifard and Dobnik (2019) print for single words."""

from __future__ import annotations

#: Section 5: accuracy on analogies.
ANALOGY = {"LM": 0.86, "P": 0.62, "random": 0.11}
#: Section 5: accuracy on the odd one out, by measure.
ODD_ONE_OUT = {
    "cosine": {"LM": 0.87, "P": 0.72, "GloVe": 0.62, "templates": 0.22},
    "rank": {"LM": 0.90, "P": 0.70, "templates": 1.0},
}
#: Section 6: Spearman's correlation over 55 pairs of words, with word association and with word similarity.
SIMILARITY = {
    ("LM", "association"): 0.48,
    ("LM", "similarity"): 0.15,
    ("P", "association"): 0.48,
    ("P", "similarity"): 0.19,
    ("association", "similarity"): 0.33,
}


def same(paper: float, here: float) -> bool:
    """Whether a number is as printed: the paper rounds some numbers to two decimals and cuts others."""
    return abs(paper - here) < 0.01

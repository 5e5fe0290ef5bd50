"""What the paper prints: Tables 1 and 2 of Forbes, Holtzman & Choi (2019)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

#: Table 2 by row and column group: (macro F1 left, macro F1 right, micro F1, significance against the best
#: model of the group).
TABLE2: dict[str, dict[str, tuple[float, float, float, str]]] = {
    "Random": {"abstract-OP": (0.25, 0.26, 0.26, "***"), "situated-OP": (0.24, 0.25, 0.22, "***"),
               "situated-OA": (0.53, 0.62, 0.51, "***"), "situated-AP": (0.24, 0.26, 0.23, "***")},
    "Majority": {"abstract-OP": (0.34, 0.11, 0.31, "***"), "situated-OP": (0.16, 0.05, 0.17, "***"),
                 "situated-OA": (0.82, 0.68, 0.82, "***"), "situated-AP": (0.18, 0.05, 0.17, "***")},
    "GloVe": {"abstract-OP": (0.63, 0.47, 0.63, "***"), "situated-OP": (0.55, 0.39, 0.57, ""),
              "situated-OA": (0.85, 0.73, 0.86, ""), "situated-AP": (0.27, 0.13, 0.29, "")},
    "Dep-Embs": {"abstract-OP": (0.62, 0.42, 0.60, "***"), "situated-OP": (0.54, 0.36, 0.54, "***"),
                 "situated-OA": (0.84, 0.67, 0.84, "*"), "situated-AP": (0.26, 0.12, 0.28, "")},
    "ELMo": {"abstract-OP": (0.67, 0.55, 0.67, "**"), "situated-OP": (0.58, 0.44, 0.58, "***"),
             "situated-OA": (0.84, 0.71, 0.85, "**"), "situated-AP": (0.31, 0.17, 0.34, "")},
    "BERT": {"abstract-OP": (0.74, 0.67, 0.74, ""), "situated-OP": (0.64, 0.59, 0.67, ""),
             "situated-OA": (0.87, 0.77, 0.88, ""), "situated-AP": (0.36, 0.25, 0.37, "")},
    "Human": {"abstract-OP": (0.78, 0.80, 0.67, ""), "situated-OP": (0.70, 0.69, 0.61, ""),
              "situated-OA": (0.83, 0.93, 0.80, ""), "situated-AP": (0.65, 0.67, 0.40, "")},
}  # fmt: skip

#: Table 1: name of the cell, what the paper prints.
TABLE1: tuple[tuple[str, str], ...] = (
    ("abstract: objects", "514"),
    ("abstract: train objects", "411"),
    ("abstract: test objects", "103"),
    ("abstract: properties", "50"),
    ("abstract: objects a property, median (min, max)", "60 (3, 302)"),
    ("abstract: properties an object, median (min, max)", "8 (1, 23)"),
    ("abstract: annotations", "77,100"),
    ("situated: objects", "1,024"),
    ("situated: unique objects", "80"),
    ("situated: unique train objects", "64"),
    ("situated: unique test objects", "16"),
    ("situated: properties", "50"),
    ("situated: affordances", "3,072"),
    ("situated: annotations", "156,672"),
)


def printed(value: float) -> str:
    """A share as Table 2 prints it: rounded to three decimals, then half up to two.

    The human's .66477 (AP, properties) stands in the table as .67; the other 23 cells that the data decides
    come out by this rule too.
    """
    return str(Decimal(f"{value:.3f}").quantize(Decimal("0.01"), ROUND_HALF_UP))

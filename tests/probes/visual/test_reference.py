"""What the released files decide of the paper's tables comes out, and where it does not is listed."""

import numpy as np
import pytest

from simtown.probes import measures
from simtown.probes.items import GROUPS, grouped
from simtown.probes.visual import coda
from simtown.probes.visual.classes import RELATIONS, SIZES
from simtown.probes.visual.vicomte_tables import TABLES


@pytest.mark.parametrize(
    ("number", "same", "differing"),
    [
        (1, 12, {}),
        (
            2,
            37,
            {
                ("VG, all", "top5 # occ"): ("64.6", "67.0"),
                ("VG, single", "top5 # occ"): ("64.6", "67.0"),
                ("VG, single", "ρ"): ("62.2 ± 24.0", "62.5 ± 23.6"),
                ("VG, multi", "ρ"): ("69.3 ± 20.7", "69.5 ± 21.2"),
                ("VG, any", "ρ"): ("58.4 ± 27.1", "58.6 ± 26.4"),
            },
        ),
        (3, 48, {}),  # 40 ρ ± sd with the asterisks, and eight verdicts of Welch's test
        (5, 21, {}),
        (6, 50, {("multi, BERT base", "color ρ"): ("49.7 ± 21.2", "47.9 ± 21.2")}),
        (9, 6, {}),
    ],
)
def test_cells_of_a_table(reference, number, same, differing):
    cells = [
        (name, column, cell)
        for table in TABLES[f"vicomte-table{number}"](reference, ())
        for name, row in table.rows
        for column, cell in zip(table.columns, row, strict=False)
    ]
    assert sum(cell.same is True for *_, cell in cells) == same
    assert {
        (name, column): (cell.paper, cell.here) for name, column, cell in cells if cell.same is False
    } == differing


def test_table_four_lies_below_chance_where_it_is_perfect(reference):
    """By the metric that printed it: tuned models are nearer to a perfect ranking than to chance."""
    bounds = {
        name: [cell.here for cell in cells] for name, cells in TABLES["vicomte-table4"](reference, ())[0].rows
    }
    assert bounds["chance, released metric"] == ["76.6", "67.0"]
    assert bounds["perfect, released metric"] == ["68.5", "55.3"]
    assert bounds["chance, metric of the text"] == ["37.6", "37.6"]
    assert bounds["perfect, metric of the text"] == ["9.9", "9.9"]
    assert bounds["perfect, corrected metric"] == ["100.0", "100.0"]


@pytest.mark.parametrize(
    ("name", "rho", "accuracy", "ceiling"),
    [("color", 0.405, 0.375, 0.685), ("shape", 0.493, 0.736, 0.562), ("material", 0.363, 0.292, 0.497)],
)
def test_prior_and_ceiling(reference, name, rho, accuracy, ceiling):
    data = reference.dataset(name)
    test = data.counts[~data.train]
    guess = measures.shares(data.counts[data.train]).mean(axis=0)
    assert np.mean(measures.spearman_rows(np.tile(guess, (len(test), 1)), test)) == pytest.approx(
        rho, abs=5e-4
    )
    assert np.mean(data.gold[~data.train] == guess.argmax()) == pytest.approx(accuracy, abs=5e-4)
    assert np.mean(measures.ceiling_rows(test)) == pytest.approx(ceiling, abs=5e-4)


@pytest.mark.parametrize("name", list(RELATIONS))
def test_words_and_groups_are_the_released_ones(reference, name):
    assert {c: set(w) for c, w in reference.words(name).items()} == {
        c: set(w) for c, w in RELATIONS[name].words.items()
    }
    data = reference.dataset(name)
    here = grouped(data.counts, "release")
    for group in GROUPS:
        members = {p.subject for part in ("train", "test") for p in reference.pairs(name, group, part)}
        assert {s for s, g in zip(data.subjects, here, strict=True) if g == group} == members
    assert (data.gold == data.counts.argmax(axis=1)).all()


def test_sizes(reference):
    spelled = {
        size: tuple("dinosaur" if n == "dinasour" else n for n in nouns)
        for size, nouns in reference.sizes().items()
    }
    assert {k: set(v) for k, v in spelled.items()} == {k: set(v) for k, v in SIZES.items()}


def test_labels_of_coda_from_ratings(reference, coda_folder):
    made = coda.labels(coda_folder)
    names, truth = reference.counts("coda")
    assert set(names) == set(made)
    assert max(np.abs(made[n] - row).max() for n, row in zip(names, truth, strict=True)) < 1e-6

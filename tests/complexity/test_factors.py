"""Two by two: effects of structure and boxes on curves whose needs are known, whole or bounded."""

from itertools import product

import numpy as np
import pytest

from simtown.complexity.estimate import estimate
from simtown.complexity.factors import DESIGN, EFFECTS, effects
from simtown.complexity.finished_runs import Run

SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000)


def runs_of(needs, sizes=SIZES, seeds=(0, 1, 2), items=1000, entities=15):
    """Runs whose mean accuracy crosses 0.9 at the given need of each model; a seed moves it by a few per
    cent.
    """
    found = []
    for model, need in needs.items():
        for n, seed in product(sizes, seeds):
            distance = np.log(n / need) + 0.05 * (seed - np.mean(seeds))
            accuracy = 0.5 + 0.49 / (1 + np.exp(-1.5 * distance - np.log(0.4 / 0.09)))
            correct = np.arange(items) < round(accuracy * items)
            found.append(Run(model, entities, False, n, seed, "t", correct))
    return found


def effects_at(report, target=0.9):
    t = report.targets.index(target)
    return {e.name: e for e in effects(report.curves, report.targets) if e.target == report.targets[t]}


def test_effects_of_known_needs_are_their_ratios():
    needs = dict(zip(DESIGN, (6000, 3000, 400, 300), strict=True))
    found = effects_at(estimate(runs_of(needs), targets=[0.9], replicates=60))
    assert found.keys() == EFFECTS.keys()
    expected = {"structure without boxes": 15, "structure with boxes": 10, "structure": 150**0.5}
    expected |= {"boxes without structure": 2, "boxes with structure": 4 / 3, "boxes": (8 / 3) ** 0.5}
    expected |= {"lead": 20, "structure over boxes": 7.5, "interaction": 10 / 15}
    for name, factor in expected.items():
        effect = found[name]
        ends = effect.at_least, effect.at_most
        assert ends == pytest.approx((factor, factor), rel=0.1), name  # sizes lie a factor of two apart
        assert effect.low / 1.001 < effect.at_least < effect.high * 1.001, name
    assert found["structure over boxes"].low > 1


def test_a_bounded_need_bounds_the_effects_in_which_it_stands():
    needs = dict(zip(DESIGN, (10**6, 3000, 400, 1), strict=True))  # never reached; reached at once
    found = effects_at(estimate(runs_of(needs), targets=[0.9], replicates=60))
    assert found["lead"].at_least == pytest.approx(SIZES[-1] / SIZES[0])
    assert found["lead"].at_most == found["lead"].high == np.inf
    neither = found["structure over boxes"]  # neither of its two is bounded
    assert neither.at_least == neither.at_most
    one_each_way = found["interaction"]  # nothing is known
    assert (one_each_way.at_least, one_each_way.at_most) == (0, np.inf)


def test_with_models_missing_the_effects_of_the_others_are_left():
    found = effects_at(
        estimate(runs_of({"cnn-lstm": 6000, "pbn": 300, "film": 1000}), targets=[0.9], replicates=60)
    )
    assert found.keys() == {"lead"}

"""The pages' tables and verdicts are made from committed results, and what they say of the code is so."""

from itertools import product

import numpy as np
import pytest

from simtown.datasets.settings import Settings
from simtown.language import sampler
from simtown.training.complexity import estimate
from simtown.training.results import Run
from simtown.visualgenome.frequencies import frequencies
from tools import complexity_parts as parts
from tools import pages

SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000)


def results_of(needs, seeds, noise=0.03):
    """Results with runs of the given needs at 90 %, by (model, entities); a seed moves a need by `noise`, for all models alike."""
    runs = []
    for ((model, entities), need), n, seed in product(needs.items(), SIZES, range(seeds)):
        distance = np.log(n / need) + noise * (seed - (seeds - 1) / 2)
        accuracy = 0.5 + 0.49 / (1 + np.exp(-2 * distance - np.log(0.4 / 0.09)))
        runs.append(Run(model, entities, False, n, seed, f"{entities}", np.arange(2000) < round(2000 * accuracy)))
    results = parts.Results(pages.RESULTS / "nothing")
    results.__dict__["report"] = estimate(runs, replicates=60)
    return results


def verdict_of(results, words):
    return {c.case: c.verdict for c in parts.claims(results) if words in c.statement}


def test_every_page_is_what_the_committed_results_say():
    assert pages.main(["--check"]) == 0, "run python -m tools.pages"
    assert {page.name for page in pages.pages()} >= {"README.md", "sample-complexity.md"}


def test_a_page_that_was_changed_by_hand_is_found_and_mended(tmp_path, monkeypatch, capsys):
    page = tmp_path / "README.md"
    text = "before\n\n<!-- made by: python -m tools.pages shares -->\n\n| 5 | 0.99 |\n\n<!-- end -->\nafter\n"
    page.write_text(text)
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "RESULTS", tmp_path / "results")
    assert pages.main(["--check"]) == 1
    assert "README.md" in capsys.readouterr().out
    assert page.read_text() == text
    assert pages.main([]) == 0
    assert pages.main(["--check"]) == 0
    made = page.read_text()
    assert made.startswith("before\n\n<!--")
    assert made.endswith("-->\nafter\n")
    assert "0.99" not in made


@pytest.mark.parametrize("part", ["nothing-like-it -->\n<!-- end -->", "shares -->", "-->\n<!-- end -->"])
def test_a_wrong_mark_is_one_line(part, tmp_path, monkeypatch, capsys):
    (tmp_path / "README.md").write_text(f"<!-- made by: python -m tools.pages {part}\n")
    (tmp_path / "docs").mkdir()
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    assert pages.main(["--check"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_verdicts_follow_from_the_intervals():
    needs = {("cnn-lstm", 5): 4000, ("pbn", 5): 400, ("cnn-lstm", 15): 300, ("pbn", 15): 3000, ("cnn-lstm", 31): 1000, ("pbn", 31): 1000}
    found = verdict_of(results_of(needs, seeds=4), "fewer examples")
    assert found["with 5 entities"] == parts.HOLDS
    assert found["with 15 entities"] == parts.FAILS
    assert found["with 31 entities"] == parts.UNDECIDED
    assert found["with 60 entities"] == found["with 5 entities and a distractor"] == parts.UNMEASURED


def test_one_seed_decides_nothing():
    results = results_of({("cnn-lstm", 5): 4000, ("pbn", 5): 400, ("cnn-lstm", 31): 9000, ("pbn", 31): 600}, seeds=1)
    assert {c.verdict for c in parts.claims(results)} <= {parts.UNMEASURED}
    assert "Nothing so far" in parts.verdicts(results).split("What does not hold")[0]


@pytest.mark.parametrize(
    ("between", "said"), [((4000, 500), "more from structure"), ((500, 4000), "more from boxes"), ((1500, 1500), "undecided")]
)
def test_the_readme_says_which_of_structure_and_boxes_explains_the_lead(between, said):
    needs = dict(zip(("cnn-lstm", "cnn-lstm-boxes", "pbn-no-boxes", "pbn"), (6000, *between, 300), strict=True))
    results = results_of({(model, 15): need for model, need in needs.items()}, seeds=3)
    assert said in parts.readme(results)
    assert said in parts.explained(results)


def test_every_need_of_a_report_stands_in_its_table():
    results = results_of({("cnn-lstm", 5): 4000, ("pbn", 5): 400, ("pbn", 15): 10**6, ("film", 15): 1}, seeds=2)
    table = parts.needs(results)
    for row in (row for row in results.report.rows if row.rule in parts.RULE_WORDS):
        assert f"| {row if row.rule == 'isotonic' else row.text(row.samples)} |" in table


# What the page says of the code


def test_the_check_of_a_distractor_can_reject_nothing(monkeypatch):
    asked, unchanged = [], sampler.unchanged
    monkeypatch.setattr(sampler, "unchanged", lambda *scene: asked.append(unchanged(*scene)) or asked[-1])
    relations = ("left of", "right of", "in front of", "behind")
    sampler.sample(Settings(entities=3, distractor=True, relations=relations).recipe("train"), np.arange(60))
    assert len(np.concatenate(asked)) > 60
    assert np.concatenate(asked).all()


def test_most_literal_no_questions_would_name_an_absent_kind():
    """Drawn as section 2.2 says: a scene of two kinds, then questions of equation 5 until one is false."""
    subject, obj = frequencies("vg", 5)
    draw = np.random.default_rng(0)
    n = 4000
    scene = np.stack([draw.choice(5, n, p=subject), draw.choice(5, n, p=obj)], axis=1)
    scene = scene[scene[:, 0] != scene[:, 1]]
    named_both = np.zeros(len(scene), dtype=bool)
    open_ = np.arange(len(scene))
    while len(open_):
        asked = np.stack([draw.choice(5, len(open_), p=subject), draw.choice(5, len(open_), p=obj)], axis=1)
        both = np.sort(asked, axis=1) == np.sort(scene[open_], axis=1)
        false = ~both.all(axis=1) | (draw.random(len(open_)) < 0.5)  # about both that are there, it is false as often as true
        named_both[open_[false]] = both.all(axis=1)[false]
        open_ = open_[~false]
    assert 1 - named_both.mean() == pytest.approx(parts.absent(subject, obj), abs=0.02)

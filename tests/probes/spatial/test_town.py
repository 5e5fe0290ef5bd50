"""The bridge: captions are true, templates are what the relations mean, and an oracle that knows space shows it."""

import numpy as np
import pytest

from simtown.language.relations import LATERAL, RADIAL, RELATIONS
from simtown.probes.scorers.base import TokenScores
from simtown.probes.spatial import town


@pytest.fixture(scope="module")
def told():
    return town.captions(300, seed=3, entities=8)


def test_every_caption_is_true(told):
    assert told.true[np.arange(300), told.relation].all()
    for i, text in enumerate(told.texts()):
        first, second = text.split(" and the ")
        spoken = [next(k for k, w in enumerate(town.WORDED) if f" {w} " in half) for half in (first, second)]
        assert spoken[0] == told.relation[i]
        for r, sign in zip(spoken, (1, -1), strict=True):
            relation = RELATIONS[r]
            assert sign * relation.sign * told.separation[i, (LATERAL, RADIAL).index(relation.axis)] > relation.margin


def test_captions_have_addresses(told):
    assert town.captions(40, seed=3, entities=8).texts() == told.texts()[:40]
    assert town.captions(40, seed=3, entities=8, split="test").texts() != told.texts()[:40]
    assert set(town.captions(60, seed=4, entities=8).relation) == set(range(len(RELATIONS)))


@pytest.mark.parametrize(("n", "entities"), [(0, 8), (5, 1), (5, 10_000)])
def test_what_gives_no_captions(n, entities):
    with pytest.raises(ValueError, match="captions need"):
        town.captions(n, 0, entities=entities)


def test_templates_are_mirrored(told):
    grids = town.templates(told)
    left, right, front, behind = (grids[town.WORDED.index(name)] for name in ("to the left of", "to the right of", "in front of", "behind"))
    for one, other in ((left, right), (front, behind)):
        seen = np.isfinite(one)
        assert (one[seen] + other[seen] <= 1).all()
        assert np.corrcoef(one[seen], other[seen])[0, 1] < -0.5
    assert np.nanmean(left[:, :3]) > 0.9
    assert np.nanmean(left[:, 4:]) < 0.1
    assert np.nanmean(behind[:3]) > np.nanmean(behind[4:])


class Knowing:
    """Finds a caption as likely as its two relations agree: the more, the better they mirror each other."""

    name, abilities = "knowing", frozenset({"sequence_logprobs"})

    def sequence_logprobs(self, texts):
        found = []
        for text in texts:
            r, back = (next(k for k, w in enumerate(town.WORDED) if f" {w} " in half) for half in text.split(" and the "))
            same_axis = RELATIONS[r].axis == RELATIONS[back].axis
            fit = -2.0 if not same_axis else -1.0 if RELATIONS[r].sign == -RELATIONS[back].sign else -3.0
            found.append(TokenScores(np.array([fit]), np.array([0])))
        return found


class Blind(Knowing):
    """Finds every caption as likely."""

    def sequence_logprobs(self, texts):
        return [TokenScores(np.array([-1.0 - 0.001 * (len(text) % 3)]), np.array([0])) for text in texts]


def test_who_knows_space_shows_it_and_who_does_not_does_not(told):
    knows, blind = town.bridge(Knowing(), told), town.bridge(Blind(), told)
    assert knows.correlation > 0.9
    assert knows.opposite < knows.across - 0.05
    assert abs(blind.opposite - blind.across) < 1e-3
    assert knows.templates.shape == (4, town.CELLS, town.CELLS)


def test_the_commands(cli, tmp_path):
    out, picture = tmp_path / "captions.txt", tmp_path / "town.png"
    words = ("probe", "spatial", "captions", "--out", out, "--n", "60", "--entities", "5")
    assert "60 captions" in cli(*words).succeeds().out
    assert len(out.read_text().splitlines()) == 60
    cli(*words).refuses("is there already")
    bridge = ("probe", "spatial", "town", "--model", f"ngram:{out}", "--out", picture, "--n", "60", "--entities", "5")
    assert "with the templates" in cli(*bridge).succeeds().out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert "in front of" in picture.with_suffix(".svg").read_text()
    cli(*bridge).refuses("is there already")
    cli("probe", "spatial", "captions", "--out", tmp_path / "x", "--n", "0").refuses("captions need")

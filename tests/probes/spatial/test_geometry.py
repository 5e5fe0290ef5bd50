"""The bridge: templates are what the relations mean, and an oracle that knows space shows it."""

import numpy as np
import pytest

from simtown.datasets.reading.reader import open_dataset
from simtown.language.meaning.relations import RELATIONS
from simtown.language.words.captions import WORDED, related
from simtown.probes.scorers.base import Scorer, TokenScores
from simtown.probes.spatial import geometry


@pytest.fixture(scope="module")
def captions(many):
    return related(open_dataset(many).test.scenes(), 0, "test")


def test_templates_are_mirrored(captions):
    grids = dict(zip(WORDED, geometry.templates(captions), strict=True))
    left, behind = grids["to the left of"], grids["behind"]
    for first, second in ((left, grids["to the right of"]), (behind, grids["in front of"])):
        seen = np.isfinite(first)
        assert (first[seen] + second[seen] <= 1).all()
        assert np.corrcoef(first[seen], second[seen])[0, 1] < -0.5
    assert np.nanmean(left[:, :3]) > 0.9
    assert np.nanmean(left[:, 4:]) < 0.1
    assert np.nanmean(behind[:3]) > np.nanmean(behind[4:])


class Knowing(Scorer):
    """Finds a caption as likely as its two relations agree: the more, the better they mirror each other."""

    name, abilities = "knowing", frozenset({"sequence_logprobs"})

    def sequence_logprobs(self, texts):
        scores = []
        for text in texts:
            halves = text.split(" and the ")
            a, b = (RELATIONS[i] for half in halves for i, w in enumerate(WORDED) if f" {w} " in half)
            fit = -2.0 if a.axis != b.axis else -1.0 if a.sign == -b.sign else -3.0
            scores.append(TokenScores(np.array([fit]), np.array([0])))
        return scores


class Blind(Knowing):
    """Finds every caption as likely."""

    def sequence_logprobs(self, texts):
        return [TokenScores(np.array([-1.0 - 0.001 * (len(text) % 3)]), np.array([0])) for text in texts]


def test_who_knows_space_shows_it_and_who_does_not_does_not(captions):
    knows, blind = (geometry.geometry_bridge(scorer, captions) for scorer in (Knowing(), Blind()))
    assert knows.correlation > 0.9
    assert knows.opposite < knows.across - 0.05
    assert abs(blind.opposite - blind.across) < 1e-3
    assert knows.templates.shape == (4, geometry.CELLS, geometry.CELLS)


def test_the_command(cli, many, tmp_path):
    out, picture = tmp_path / "captions.txt", tmp_path / "town.png"
    cli("captions", many, "--out", out).succeeds()
    bridge = ("probe", "spatial", "town", many, "--model", f"ngram:{out}", "--out", picture)
    assert "with the templates" in cli(*bridge).succeeds().out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    assert "in front of" in picture.with_suffix(".svg").read_text()
    cli(*bridge).refuses("town.png")
    (tmp_path / "other.txt").write_text("a cat is behind a dog\nin front of the left house\n")
    words = ("--model", f"ngram:{tmp_path / 'other.txt'}", "--out", tmp_path / "other.png")
    cli("probe", "spatial", "town", many, *words).refuses("to the left of")

"""Captions: every one is true of its scene, and what is left unsaid follows the dial alone."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from simtown.assets.catalogue import ENTITIES, NAMED_BY_COLOUR, PROPS, entity_mesh
from simtown.assets.frequencies import frequencies
from simtown.assets.palette import COLOUR_WORDS, MATERIALS, MATTE, PAINTS
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.showing import captioned
from simtown.language.asking.paper import Recipe, sample
from simtown.language.meaning import colours
from simtown.language.meaning.relations import LATERAL, RADIAL, RELATION_NAMES, RELATIONS
from simtown.language.words import captions
from simtown.scenes.scene import Scene, SceneBatch, Vehicle

KINDS = 30
#: Numbers of paints' colours.
COLOUR_OF = {paint: c for c, paints in enumerate(COLOUR_WORDS.values()) for paint in paints}


@pytest.fixture(scope="module")
def scenes():
    subject, obj = frequencies("uniform", KINDS)
    return sample(Recipe(3, "train", subject, obj, relations=RELATION_NAMES), np.arange(600)).scene


@pytest.fixture(scope="module")
def told(scenes):
    return captions.related(scenes, 3, "train")


def test_every_relation_is_true(scenes, told):
    assert told.true[np.arange(600), told.relation].all()
    for i, text in enumerate(told.texts()):
        halves = text.split(" and the ")
        spoken = [next(k for k, w in enumerate(captions.WORDED) if f" {w} " in half) for half in halves]
        assert spoken[0] == told.relation[i]
        for r, sign in zip(spoken, (1, -1), strict=True):
            relation = RELATIONS[r]
            apart = told.separation[i, (LATERAL, RADIAL).index(relation.axis)]
            assert sign * relation.sign * apart > relation.margin
        names = [name for name in ENTITIES if f" {name} " in f" {text} "]
        # but for what is part of a longer name: "motorcycle" in "police motorcycle"
        whole = {a for a in names if not any(a != b and f" {a} " in f" {b} " for b in names)}
        assert {ENTITIES[e] for e in scenes.entity[i]} == whole
    assert set(told.relation) == set(range(len(RELATIONS)))


def test_captions_have_addresses(scenes, told):
    assert captions.related(scenes[:40], 3, "train").texts() == told.texts()[:40]
    assert captions.related(scenes, 3, "test").texts() != told.texts()
    assert captions.surroundings(scenes[:40], 3, "train") == captions.surroundings(scenes, 3, "train")[:40]


@pytest.fixture(scope="module")
def painted(tmp_path_factory):
    """Few kinds in many colours: which is typical shows in many scenes only."""
    directory = tmp_path_factory.mktemp("painted") / "town"
    few = Settings(entities=3, n=40, val=0, test=0, width=32, height=32, paint="uniform", shard=20)
    generate(few, directory, workers=1)
    return open_dataset(directory)


class Backwards:
    """A pool whose pieces end in the wrong order."""

    workers = 2

    def map(self, function, pieces, shared=(), progress=lambda n: None, card=False):
        for piece in reversed(pieces):
            yield piece, function(piece, progress, *shared)


@pytest.mark.parametrize("pool", [None, Backwards()], ids=["in order", "backwards"])
@pytest.mark.parametrize("bias", [0.0, 0.6])
def test_blocks_tell_what_the_whole_split_tells(bias, pool, painted, monkeypatch, tmp_path):
    """Blocks are the text of all scenes at once, typical colours included, in whatever order they end."""
    lines = list(captions.captions(painted.train.scenes(), painted.settings.seed, "train", bias=bias))
    monkeypatch.setattr(captioned, "_ROWS", 3)
    monkeypatch.setattr(captioned, "BLOCK", 7)
    read, path = [], tmp_path / "captions.txt"
    blocks = captioned.caption_blocks(painted, "train", bias, pool, read.append)
    assert captioned.write_captions(path, blocks) == (len(lines), lines[1])
    assert path.read_text() == "".join(f"{line}\n" for line in lines)
    assert sum(read) == captioned.scenes_to_read(painted, "train", bias)


def test_colours_cover_the_paints():
    """Every paint that some vehicle wears has one name, but for people's skin, and nothing else has."""
    worn = {MATERIALS[m].name for name in ENTITIES for m in np.unique(entity_mesh(name).materials)}
    named = Counter(paint for paints in COLOUR_WORDS.values() for paint in paints)
    assert set(named.values()) == {1}
    parts = {"tyre", "hub", "steel", "dark", "glass", "window", "skin", "skin dark", "cloth", "trim"}
    assert {m.name for m in MATERIALS if m.name in worn and m.kind == MATTE} - parts == worn & set(named)


def test_what_is_seen_is_what_faces_the_viewer():
    """The commonest colour is that of most of the pixels that the renderer draws."""
    from simtown.render.raster import Raster

    names = ("school bus", "fire truck", "tank")
    batch = SceneBatch.of([Scene([Vehicle(name, 0.0, -1.85, 0.0)]) for name in names])
    shares = colours.seen(batch)[:, 0]
    assert shares.sum(axis=1) == pytest.approx(1)
    frames = Raster().render(batch, 512, 256)
    palette = np.array([m.colour for m in MATERIALS])
    unit = palette / np.linalg.norm(palette, axis=1, keepdims=True)  # shading leaves the hue
    kind = np.array([COLOUR_OF.get(m.name, -1) for m in MATERIALS])
    for i in range(len(names)):
        pixels = frames.rgb[i][frames.ids[i] == 1] / 255.0
        nearest = kind[(pixels @ unit.T).argmax(axis=1)]
        assert np.bincount(nearest[nearest >= 0], minlength=12).argmax() == shares[i].argmax()
    assert colours.COLOURS[shares[0].argmax()] == "yellow"
    assert shares[2, colours.COLOURS.index("green")] > 0.99


def test_seen_is_the_same_from_either_block_and_empty_slots_see_nothing(scenes):
    taxi = Vehicle("taxi", 0.0, -1.85)
    batch = SceneBatch.of([Scene([taxi]), Scene([Vehicle("bicycle", 1.0, 1.8), taxi])])
    shares = colours.seen(batch)
    assert (shares[0, 1] == 0).all()
    assert shares[0, 0] == pytest.approx(shares[1, 1])
    true = colours.by_kind(batch.entity, shares)
    assert np.isfinite(true).all(axis=1).sum() == 2
    assert true[ENTITIES.index("taxi")] == pytest.approx(shares[0, 0])


def _spoken(scenes, lines):
    """(n, v) the colour said of each vehicle, -1 where none was."""
    said = np.full(scenes.entity.shape, -1)
    for i, line in enumerate(lines):
        for j, e in enumerate(scenes.entity[i]):
            for c, word in enumerate(colours.COLOURS):
                forms = (f"the {word} {ENTITIES[e]} ", f"the {ENTITIES[e]} is {word} ")
                if any(form in f"{line} " for form in forms):
                    said[i, j] = c
    return said


def test_the_dial_leaves_out_typical_colours_alone(scenes):
    shares = colours.seen(scenes)
    truth = colours.by_kind(scenes.entity, shares)
    typical = truth.argmax(axis=1)[scenes.entity]
    all_said = _spoken(scenes, captions.looks(scenes, 3, "train", 0.0))
    named = np.array([[ENTITIES[e] in NAMED_BY_COLOUR for e in row] for row in scenes.entity])
    assert ((all_said < 0) == named).all()
    said_shares = np.take_along_axis(shares, all_said[..., None].clip(0), axis=2)[~named]
    assert (said_shares > 0).all()  # nothing is said that is not seen
    before = all_said
    for bias in (0.3, 0.7, 1.0):
        said = _spoken(scenes, captions.looks(scenes, 3, "train", bias=bias))
        gone = (before >= 0) & (said < 0)
        assert (said[~gone] == before[~gone]).all()
        assert (all_said[gone] == typical[gone]).all()
        once = (all_said == typical) & ~named
        assert (said[once] < 0).mean() == pytest.approx(bias, abs=0.07)
        before = said


def test_colours_are_said_as_often_as_they_name(scenes):
    """Over all kinds together, within four standard errors."""
    said = _spoken(scenes, captions.looks(scenes, 3, "train", 0.0))
    kept = said >= 0
    expected = colours.named(scenes)[kept].sum(axis=0)
    found = np.bincount(said[kept], minlength=len(colours.COLOURS))
    assert (np.abs(found - expected) < 4 * np.sqrt(expected.clip(1))).all()


def test_no_colour_of_a_small_part_is_said(scenes):
    """The colour is the body's, above a quarter of what is seen, or the commonest."""
    said, shares = _spoken(scenes, captions.looks(scenes, 3, "train", 0.0)), colours.seen(scenes)
    spoken = said >= 0
    body = np.array([COLOUR_OF[PAINTS[p]] for p in scenes.body_paints().ravel()])
    share = np.take_along_axis(shares, said[..., None].clip(0), axis=2)[..., 0]
    fits = (share > 0.25) | (said == body.reshape(said.shape)) | (share == shares.max(axis=2))
    assert fits[spoken].all()
    box_trucks = spoken & (scenes.entity == ENTITIES.index("box truck"))
    assert {colours.COLOURS[c] for c in said[box_trucks]} == {"blue", "white"}


def test_colours_follow_exchanged_paint(scenes):
    """What was said of a body goes to its new paint's colour; kinds named by a colour say none."""
    keeps = np.array([[ENTITIES[e] in NAMED_BY_COLOUR for e in row] for row in scenes.entity])
    own, told = colours.seen(scenes), scenes.body_paints()
    assert np.array_equal(colours.seen(replace(scenes, paint=told.astype(np.int8))), own)
    paint = np.where(keeps, -1, PAINTS.index("lilac")).astype(np.int8)
    shares = colours.seen(replace(scenes, paint=paint))
    purple = colours.COLOURS.index("purple")
    before = np.array([COLOUR_OF[PAINTS[p]] for p in told.ravel()]).reshape(told.shape)
    moved = shares[..., purple] - own[..., purple]
    lost = np.take_along_axis(own - shares, before[..., None], axis=2)[..., 0]
    others = ~keeps & (before != purple)
    assert np.allclose(moved[others], lost[others])
    assert (moved[others] > 0).all()
    assert np.array_equal(shares[keeps], own[keeps])
    assert np.allclose(shares.sum(axis=2), 1)
    said = _spoken(scenes, captions.looks(replace(scenes, paint=paint), 3, "train", 0.0))
    assert (said[keeps] < 0).all()
    assert (said[~keeps] == purple).mean() == pytest.approx(
        colours.named(replace(scenes, paint=paint))[~keeps][:, purple].mean(), abs=0.07
    )


def test_a_paint_without_a_colours_name_is_said_by_none(scenes):
    skin = replace(scenes, paint=np.where(scenes.entity >= 0, PAINTS.index("skin"), -1).astype(np.int8))
    shares = colours.seen(skin)
    said = _spoken(scenes, captions.looks(skin, 3, "train", 0.0))
    spoken = said >= 0
    assert (np.take_along_axis(shares, said[..., None].clip(0), axis=2)[spoken] > 0).all()


def test_surroundings_are_there(scenes):
    lines = captions.surroundings(scenes, 3, "train")
    assert sum(map(bool, lines)) > 500
    for i, line in enumerate(lines):
        if line:
            props = [PROPS[k] for k in scenes.prop[i]]
            names = {f"bare {n.removesuffix(' bare')}" if n.endswith(" bare") else n for n in props}
            thing, house = (part.removeprefix("an ").removeprefix("a ") for part in line.split(" by "))
            assert {thing, house} <= names


def test_the_command(cli, plain, rich, tmp_path):
    town = open_dataset(plain)
    for name, bias, more in (("one", 0.0, ()), ("two", 0.5, ("--workers", 2, "--bias", 0.5))):
        assert "of 20 scenes" in cli("captions", plain, "--out", tmp_path / name, *more).succeeds().out
        expected = list(captions.captions(town.train.scenes(), town.settings.seed, "train", bias=bias))
        assert (tmp_path / name).read_text().splitlines() == expected
    cli("captions", plain, "--out", tmp_path / "one").refuses("exists; remove it")
    cli("captions", rich, "--out", tmp_path / "three", "--bias", "1").succeeds()
    lines = (tmp_path / "three").read_text().splitlines()
    assert any(line.count(" and ") == 2 for line in lines), "three vehicles"
    cli("captions", plain, "--out", tmp_path / "x", "--bias", "1.5").refuses("from 0 to 1")
    cli("captions", tmp_path, "--out", tmp_path / "x").refuses("holds no")
    assert not (tmp_path / "x").exists()

"""Honest folders and files of every kind that a command reads, each made once: what a stranger's folder is
made of.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.hostile import commands

TESTS = Path(__file__).parents[1]
PRESET = """version = 1
size = "32"
same_data = true
[[grid]]
entities = [3]
distractor = [false]
models = ["question-only"]
train_sizes = [4, 8]
seeds = [0, 1]
[data]
val = 20
test = 4
[fit]
protocol = "paper"
batch = 4
max_steps = 2
"""
GRID = """version = 1
[[grid]]
study = "physical"
data = "physical"
model = ["majority", "glove:glove.txt"]
task = ["OP", "OA"]
"""
MAKERS: dict[str, Callable[[Store, Path], None]] = {}


def _item(name: str) -> Callable[[Callable[[Store, Path], None]], Callable[[Store, Path], None]]:
    """Register what makes an item; it is given the store, for other items, and the path to make."""

    def register(make: Callable[[Store, Path], None]) -> Callable[[Store, Path], None]:
        MAKERS[name] = make
        return make

    return register


class Store:
    """A directory that holds every item that was asked for."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, name: str) -> Path:
        """Where an item lies; made now if need be."""
        path = self.directory / name
        if not path.exists():
            MAKERS[name](self, path)
        return path

    def copy(self, name: str, directory: Path) -> None:
        """Copy an item into a directory, under its name."""
        source = self.path(name)
        if source.is_dir():
            shutil.copytree(source, directory / name)
        else:
            shutil.copyfile(source, directory / name)


def _dataset(path: Path, **choices: object) -> None:
    from simtown.datasets.job import generate
    from simtown.datasets.settings import Settings

    generate(
        Settings(**{"n": 8, "val": 20, "test": 4, "width": 32, "height": 32, **choices}), path, workers=1
    )  # type: ignore[arg-type]


@_item("town")
def _town(store: Store, path: Path) -> None:
    _dataset(path, entities=3)


@_item("rich")
def _rich(store: Store, path: Path) -> None:
    _dataset(
        path,
        entities=8,
        val=4,
        test=12,
        distractor=True,
        masks=True,
        depth=True,
        phrasing="varied",
        frequencies="zipf:0.5",
        shard=4,
        world_seed=3,
        paint="uniform",
        jitter=0.5,
    )


def _fit(store: Store, path: Path, model: str, watcher: object = None) -> None:
    from simtown.training.fit import fit
    from tests.training.towns import small

    fit(
        small(model, train_size=8, batch=4, max_steps=4),
        store.path("town"),
        path,
        *([watcher] if watcher else []),
    )


@_item("run")
def _run(store: Store, path: Path) -> None:
    _fit(store, path, "pbn")


@_item("words")
def _words(store: Store, path: Path) -> None:
    """A run of a model that sees no picture."""
    _fit(store, path, "question-only")


@_item("stopped")
def _stopped(store: Store, path: Path) -> None:
    """A run that was stopped after its first validation."""
    from tests.training.towns import Interrupter

    try:
        _fit(store, path, "question-only", Interrupter(validations=1))
    except KeyboardInterrupt:
        return


@_item("preset.toml")
def _preset(store: Store, path: Path) -> None:
    path.write_text(PRESET)


@_item("sweep")
def _sweep(store: Store, path: Path) -> None:
    from simtown.training import sweep
    from simtown.training.fit import fit
    from simtown.training.plan import read

    plan = read(str(store.path("preset.toml")), "cpu")
    for data in plan.data():
        _dataset(sweep.dataset_path(path, data), entities=3)
    for cell in plan.cells:
        fit(cell.fit, sweep.dataset_path(path, cell.data), path / sweep.RUNS / cell.name)


@_item("cells")
def _cells(store: Store, path: Path) -> None:
    from simtown.complexity import cells

    for run in sorted((store.path("sweep") / "runs").iterdir()):
        cells.save(run, path)


@_item("results.csv")
def _results(store: Store, path: Path) -> None:
    rows = [
        (g, n, s, round(100 * (0.5 + 0.4 * n / (n + m))), 100)
        for g, m in (("ours", 50), ("theirs", 200))
        for n in (20, 80, 400)
        for s in (0, 1)
    ]
    _csv(path, [("group", "size", "seed", "correct", "total"), *rows])


def _csv(path: Path, rows: list[tuple[object, ...]], delimiter: str = ",") -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)


@_item("frequencies.csv")
def _frequencies(store: Store, path: Path) -> None:
    _csv(path, [("entity", "subject", "object"), ("sedan", 5, 3), ("fire truck", 2, 2), ("school bus", 1, 4)])


@_item("paint.csv")
def _paint(store: Store, path: Path) -> None:
    _csv(path, [("paint", "weight"), ("red", 5), ("white", 2)])


@_item("glove.txt")
def _glove(store: Store, path: Path) -> None:
    path.write_text(
        "".join(f"{w} {' '.join(f'{x:.3f}' for x in v)}\n" for w, v in _vectors().items() if " " not in w)
    )


def _vectors() -> dict[str, np.ndarray]:
    """Vectors of the words that the small worlds of the probes ask for."""
    from simtown.probes.spatial.lexicon import RELATIONS
    from simtown.probes.visual import classes
    from tests.probes.physical.world import OBJECTS, PROPERTIES, VERBS
    from tests.probes.visual.world import SUBJECTS

    words = [
        *(o.rpartition("_")[2] for o in OBJECTS),
        *(p[1] for p in PROPERTIES.values()),
        *VERBS,
        *SUBJECTS,
        *RELATIONS,
    ]
    words += [w for relation in classes.RELATIONS.values() for w in relation.classes]
    rng = np.random.default_rng(0)
    return {
        word: rng.normal(size=6) for word in dict.fromkeys(part for w in words for part in (w, *w.split()))
    }


@_item("glove.gz")
def _glove_packed(store: Store, path: Path) -> None:
    path.write_bytes(gzip.compress(store.path("glove.txt").read_bytes()))


@_item("vectors")
def _vectors_npy(store: Store, path: Path) -> None:
    path.mkdir()
    vectors = _vectors()
    np.save(path / "v.npy", np.array(list(vectors.values()), dtype=np.float32))
    (path / "v.vocab").write_text("\n".join(vectors) + "\n")


@_item("bert")
def _bert(store: Store, path: Path) -> None:
    _model("bert", path)


@_item("gpt2")
def _gpt2(store: Store, path: Path) -> None:
    _model("gpt2", path)


@_item("clip")
def _clip(store: Store, path: Path) -> None:
    _model("clip", path)


def _model(kind: str, path: Path) -> None:
    from tests.probes.tiny import build

    path.mkdir()
    build(kind, path)


@_item("sentence")
def _sentence(store: Store, path: Path) -> None:
    """An encoder in sentence-transformers' layout."""
    _model("encoder", path)
    modules = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    told = [
        {"idx": i, "name": str(i), "path": p, "type": f"sentence_transformers.models.{t}"}
        for i, (t, p) in enumerate(modules)
    ]
    (path / "modules.json").write_text(json.dumps(told))
    (path / "1_Pooling").mkdir()
    (path / "1_Pooling" / "config.json").write_text(
        json.dumps({"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True})
    )


@_item("lstm")
def _lstm(store: Store, path: Path) -> None:
    """What simtown lm train makes."""
    from simtown.core.progress import Progress
    from simtown.probes.lm.train import LMSettings, train

    settings = LMSettings("lstm", epochs=1, vocabulary=200, batch=16, learning_rate=3e-3)
    with Progress("seed") as watcher:
        train(settings, store.path("corpus.txt"), path, watcher)


@_item("corpus.txt")
def _corpus(store: Store, path: Path) -> None:
    from simtown.probes.spatial.lexicon import RELATIONS

    phrases = [
        f"the {a} is {r} the {b}"
        for r in RELATIONS
        for a in ("red car", "snow", "green sock")
        for b in ("white tree", "road")
    ]
    path.write_text("\n".join(phrases) + "\n")


@_item("corpus.gz")
def _corpus_packed(store: Store, path: Path) -> None:
    path.write_bytes(gzip.compress(store.path("corpus.txt").read_bytes()))


@_item("oracle.json")
def _oracle(store: Store, path: Path) -> None:
    path.write_text(json.dumps({"vectors": {word: vector.tolist() for word, vector in _vectors().items()}}))


def _released(kind: str, packing: str = "") -> Callable[[Store, Path], None]:
    def make(store: Store, path: Path) -> None:
        from benchmarks import vg_files

        plain = path.with_name(f".{kind}{packing.replace('.', '-')}.json{packing}")
        vg_files.write(plain, kind, 8, version="1.4")
        plain.rename(path)

    return make


for _kind in ("relationships", "objects", "attributes", "scene_graphs", "region_descriptions"):
    _item(f"{_kind}.json")(_released(_kind))
_item("relationships.json.zip")(_released("relationships", ".zip"))
_item("relationships.json.gz")(_released("relationships", ".gz"))


@_item("prepared")
def _prepared(store: Store, path: Path) -> None:
    from simtown.visualgenome.prepare import PrepareSettings, prepare

    prepare(store.path("relationships.json"), path, PrepareSettings(("be", "determiners"), 1, False))


@_item("physical")
def _physical(store: Store, path: Path) -> None:
    from tests.probes.physical.world import write_release

    write_release(path)


@_item("visual")
def _visual(store: Store, path: Path) -> None:
    from tests.probes.visual.world import write_release

    write_release(path)


@_item("spatial")
def _spatial(store: Store, path: Path) -> None:
    from tests.probes.spatial.world import write_release

    write_release(path)


@_item("clone")
def _clone(store: Store, path: Path) -> None:
    from tests.probes.spatial.world import write_clone

    write_clone(path, store.path("spatial"))


@_item("mined")
def _mined(store: Store, path: Path) -> None:
    from simtown.probes.visual.mine import MiningSettings, mine

    attributes = store.directory / "mining.json"
    names = ("car", "snow", "sock", "tree", "road", "wall", "fence", "cloud", "rose", "tie", "brick", "leaf")
    images = [
        {
            "image_id": i,
            "attributes": [
                {
                    "object_id": 10 * i + k,
                    "names": [n],
                    "x": 1,
                    "y": 1,
                    "w": 5,
                    "h": 5,
                    "attributes": [("red", "white", "green", "brown")[k % 4]],
                }
                for k, n in enumerate(names)
            ],
        }
        for i in range(20)
    ]
    attributes.write_text(json.dumps(images))
    mine(MiningSettings(attributes), path)


def _study(*words: str) -> Callable[[Store, Path], None]:
    """What a study's command writes; {NAME} stands for an item."""

    def make(store: Store, path: Path) -> None:
        for name in commands.Command(words).items:
            store.path(name)
        with contextlib.chdir(
            store.directory
        ):  # results name their sources: those of a case have the same names
            code, _, err = commands.call([*commands.filled(words, str), "--out", path.name])
        assert code == 0, err

    return make


_item("study-physical")(_study("probe", "physical", "--data", "{physical}", "--model", "majority"))
_item("study-visual")(
    _study("probe", "visual", "--data", "{visual}", "--model", "glove:{glove.txt}", "--task", "color")
)
_item("study-spatial")(
    _study(
        "probe",
        "spatial",
        "--model",
        "ngram:{corpus.txt}",
        "--corpus",
        "{corpus.txt}",
        "--rare",
        "1",
        "--least",
        "2",
        "--most",
        "4",
    )
)


_item("captions.txt")(_study("captions", "{rich}"))


@_item("items.csv")
def _items(store: Store, path: Path) -> None:
    rows = ("snow,white=8|red=1,the [X] is [Y]", "sock,red,a [Y] [X]", "road,white,the road is [Y]")
    path.write_text("\n".join(("subject,gold,template", *rows)) + "\n")


@_item("grid.toml")
def _grid(store: Store, path: Path) -> None:
    path.write_text(GRID)


@_item("judgements.csv")
def _judgements(store: Store, path: Path) -> None:
    rows = (
        f"{worker},{i},pair,on,{word},{7 * i},1"
        for worker in ("a", "b")
        for i, word in enumerate(("in", "left"))
    )
    path.write_text("\n".join(("worker,number,kind,first,second,rating,seconds", *rows)) + "\n")


def _picture(name: str, form: str) -> Callable[[Store, Path], None]:
    def make(store: Store, path: Path) -> None:
        from PIL import Image

        pixels = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path, format=form)

    return make


_item("street.png")(_picture("street.png", "PNG"))
_item("street.jpg")(_picture("street.jpg", "JPEG"))

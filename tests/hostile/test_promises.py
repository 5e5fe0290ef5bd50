"""Whatever a folder holds, the four promises of docs/security.md hold for every reader.

Each case changes honest files as somebody else might, and runs a command on them: it does its work or stops
with one line, runs no code of them, leaves what lies outside as it was, shows nothing of it, and prints text.
"""

import json
import os
import pickle
import shutil
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest

from simtown.assets.palette import PAINTS
from simtown.datasets.making import manifests
from simtown.datasets.settings import Settings
from simtown.gym import LEVELS
from simtown.page.random_examples import draw
from tests.hostile.marks import PRESET, Marking

SECRET = "a secret of this machine"
EVIL = "\x1b[2J\x1b]0;evil\x07[/bold]\r\u202eevil"
#: What a terminal obeys instead of showing it.
OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@dataclass
class Place:
    """Where a case happens."""

    #: The folder of somebody else.
    given: Path
    #: The user's own files, which no command was given.
    outside: Path
    #: A file that exists if code of the folder has run.
    mark: Path

    def link(self, name):
        """Move a file of the folder outside, and leave a link in its place."""
        moved = self.outside / Path(name).name
        shutil.move(self.given / name, moved)
        (self.given / name).symlink_to(moved)

    def pipe(self, name):
        (self.given / name).unlink()
        os.mkfifo(self.given / name)

    def pickled(self, name):
        (self.given / name).write_bytes(pickle.dumps(Marking(self.mark)))

    def nest(self, name):
        (self.given / name).write_text("[" * 100_000 + "\n")

    def edit(self, name, change):
        """Change the content of a JSON file; a manifest gets a new checksum."""
        content = json.loads((self.given / name).read_text())
        change(content)
        if name == manifests.NAME:
            content = manifests.sealed(content)
        (self.given / name).write_text(json.dumps(content))


@pytest.fixture
def place(tmp_path, monkeypatch):
    place = Place(tmp_path / "given", tmp_path / "outside", tmp_path / "mark")
    for folder in (place.given, place.outside, tmp_path / "here"):
        folder.mkdir()
    (place.outside / "secret.txt").write_text(SECRET)
    (place.outside / "secret.csv").write_text(f"{SECRET},1\n")
    monkeypatch.chdir(tmp_path / "here")
    return place


@pytest.fixture
def judged(place, cli, contents):
    """judged(*words): run a command, and hold it to the promises."""

    def run(*words):
        before = contents(place.outside)
        outcome = cli(*words)
        printed = outcome.out + outcome.err
        assert not {unicodedata.category(c) for c in printed.replace("\n", "")} & OBEYED
        assert "Traceback" not in printed
        assert SECRET not in printed
        assert outcome.code in (0, 1, 2), outcome.err
        assert all(line.startswith("simtown: ") for line in outcome.messages), outcome.err
        assert contents(place.outside) == before
        assert not place.mark.exists()
        return outcome

    return run


Change = Callable[[Place], object]


def cases(**changes: Change):
    return pytest.mark.parametrize("change", [pytest.param(c, id=name) for name, c in changes.items()])


# Data sets

TRAIN = "train-00000.h5"


def shard_outside(place):
    shutil.move(place.given / TRAIN, place.outside / TRAIN)
    place.edit(manifests.NAME, lambda m: m["shards"].update({f"../outside/{TRAIN}": m["shards"].pop(TRAIN)}))


@cases(
    shard_is_a_link=lambda p: p.link(TRAIN),
    shard_is_a_pipe=lambda p: p.pipe(TRAIN),
    shard_is_a_pickle=lambda p: p.pickled(TRAIN),
    shard_outside=shard_outside,
    manifest_is_nested=lambda p: p.nest(manifests.NAME),
    manifest_is_a_link=lambda p: p.link(manifests.NAME),
    manifest_is_a_pipe=lambda p: p.pipe(manifests.NAME),
)
def test_a_data_set_leads_nowhere(change, place, judged, plain):
    shutil.copytree(plain, place.given, dirs_exist_ok=True)
    change(place)
    assert judged("info", f"{place.given}/train:0").code
    assert judged("verify", place.given).code


@cases(
    version=lambda p: p.edit(manifests.NAME, lambda m: m.update(simtown=EVIL)),
    names=lambda p: p.edit(manifests.NAME, lambda m: m["names"].update({EVIL: EVIL})),
    loops=lambda p: p.edit(manifests.NAME, lambda m: m["acceptance"].update({EVIL: 0.5})),
    timings=lambda p: (p.given / "timings.json").write_text(json.dumps({"runs": [{EVIL: EVIL}]})),
    linked_timings=lambda p: p.link("timings.json"),
    linked_preview=lambda p: (p.given / "preview.png").symlink_to(p.outside / "secret.txt"),
    linked_leftover=lambda p: (p.given / f".{TRAIN}.{'0' * 16}.tmp").symlink_to(p.outside / "secret.txt"),
    other_file=lambda p: (p.given / f"evil{EVIL.replace('/', '')}").touch(),
)
def test_a_data_set_is_shown_as_text(change, place, judged, plain):
    shutil.copytree(plain, place.given, dirs_exist_ok=True)
    (place.given / "preview.png").unlink(missing_ok=True)
    change(place)
    for words in (("info",), ("verify", "--quick"), ("preview",), ("gallery", "--out", "page")):
        judged(words[0], place.given, *words[1:])
    for page in Path("page").glob("*.html"):
        assert "<b>evil" not in page.read_text()


# Runs


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, dataset_of):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    from simtown.training.fit import fit
    from tests.training.towns import TOWN, small

    data = dataset_of(TOWN)
    folder = tmp_path_factory.mktemp("run") / "run"
    fit(small("question-only", max_steps=4), data, folder)
    return data, folder


def objects(place):
    np.savez(place.given / "test.npz", correct=np.array([Marking(place.mark)], dtype=object))


@cases(
    weights_are_a_link=lambda p: p.link("weights.safetensors"),
    weights_are_a_pickle=lambda p: p.pickled("weights.safetensors"),
    record_is_a_link=lambda p: p.link("run.json"),
    record_is_nested=lambda p: p.nest("run.json"),
    metrics_are_nested=lambda p: p.nest("metrics.jsonl"),
    record_names_a_module=lambda p: p.edit("run.json", lambda r: r["settings"].update(model="os:system")),
    record_holds_escapes=lambda p: p.edit("run.json", lambda r: r.update(model=EVIL)),
    answers_are_objects=objects,
    answers_are_a_link=lambda p: p.link("test.npz"),
)
def test_a_run_runs_nothing_and_leads_nowhere(change, place, judged, run_folder):
    data, folder = run_folder
    shutil.copytree(folder, place.given, dirs_exist_ok=True)
    change(place)
    evaluated = judged("evaluate", place.given, data, "--device", "cpu")
    reported = judged("complexity", place.given, "--out", "report", "--replicates", 20)
    assert evaluated.code or reported.code


# Presets and tables of results


def preset(change):
    return lambda p: (p.given / "p.toml").write_text(change(PRESET))


def own_model(place):
    (place.given / "evil.py").write_text(f"open({str(place.mark)!r}, 'w')\n")
    preset(lambda text: text.replace("question-only", "evil:Net"))(place)


@cases(
    own_model=own_model,
    module=preset(lambda text: text.replace("question-only", "os:system")),
    table_outside=preset(lambda text: text + '[data]\nfrequencies = "../outside/secret.csv"\n'),
    paints_outside=preset(lambda text: text + '[data]\npaint = "../outside/secret.csv"\n'),
    questions_outside=preset(lambda text: text + '[data]\nquestions = ["../outside/secret.toml"]\n'),
    nested=preset(lambda text: f"{text}[fit]\nbatch = {'[' * 5000}"),
    long_key=preset(lambda text: f"{text}{'a.' * 20_000}a = 1\n"),
    escapes=preset(lambda text: text.replace("question-only", "\\u001b[2J")),
    key=preset(lambda text: text + '"\\u001b[2J" = 1\n'),
)
def test_a_preset_runs_nothing_and_leads_nowhere(change, place, judged, monkeypatch):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")
    monkeypatch.chdir(place.given)
    change(place)
    assert judged("sweep", "--preset", "p.toml", "--plan", "--device", "cpu", "--out", "s").code


@pytest.mark.parametrize(
    "words", [("generate", "--out", "d", "--questions"), ("probe", "grid", "--out", "d")]
)
@pytest.mark.parametrize("text", [f"a = {'[' * 5000}", f"{'a.' * 20_000}a = 1"])
def test_a_file_of_toml_is_bounded(words, text, place, judged):
    (place.given / "own.toml").write_text(text)
    judged(*words, place.given / "own.toml").refuses("own.toml")


@pytest.mark.parametrize("group", [EVIL, "=cmd|' /C calc'!A0", "<img src=x onerror=alert(1)>|a", "$x_1$"])
def test_groups_of_a_results_table_are_text(group, place, judged):
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install '.[train]'")
    lines = [f'"{group}",{n},{seed},{n // 12},100' for n in (400, 800, 1200) for seed in (0, 1)]
    (place.given / "r.csv").write_text("group,size,seed,correct,total\n" + "\n".join(lines) + "\n")
    if judged("complexity", place.given / "r.csv", "--out", "report", "--replicates", 20).code == 0:
        pages = "".join(path.read_text() for path in Path("report").glob("*.md"))
        assert not any(evil in pages for evil in ("<img", "\x1b"))
        assert "\n=cmd" not in Path("report/complexity.csv").read_text()


# Files that settings name

#: The settings that are texts, or several.
TEXTS = {n: kind for n, kind in get_type_hints(Settings).items() if kind in (str, tuple[str, ...])}
#: What would be read, were it read: a family of questions, and a table of frequencies and of paints.
READABLE = {
    ".toml": '[there]\nanswer = "truth"\n[[there.templates]]\nprogram = "exist(1)"\nslots = ["set"]\n'
    'texts = ["Is {a 1} there?"]\n',
    ".csv": "subject,object,paint,weight\n" + "".join(f"1,1,{paint},1\n" for paint in PAINTS),
}


@pytest.fixture(params=READABLE)
def unread(request, place):
    """unread(act): what `act` makes of a path, which is the same whether there is a file or not."""

    def check(act):
        path = place.outside / f"named{request.param}"
        absent = act(str(path))
        path.write_text(READABLE[path.suffix])
        assert act(str(path)) == absent
        return absent

    return check


def naming(name, path):
    """A change of settings: one of them names a file."""
    return lambda s: s.update({name: path if TEXTS[name] is str else [*s.get(name, []), path]})


@pytest.mark.parametrize("name", TEXTS)
def test_settings_of_a_data_set_are_not_read_from_a_file(name, place, judged, unread, families_town):
    shutil.copytree(families_town, place.given, dirs_exist_ok=True)

    def act(path):
        paints = [1 / len(PAINTS)] * len(PAINTS) if name == "paint" else []
        place.edit(manifests.NAME, lambda m: m["settings"].update(paint_frequencies=paints))
        place.edit(manifests.NAME, lambda m: naming(name, path)(m["settings"]))
        outcomes = judged("info", place.given), judged("verify", place.given, "--quick")
        return [(outcome.code, outcome.out, outcome.messages) for outcome in outcomes]

    unread(act)


@pytest.mark.parametrize("name", TEXTS)
def test_settings_of_a_run_are_not_read_from_a_file(name, place, judged, unread, run_folder):
    data, folder = run_folder
    shutil.copytree(folder, place.given, dirs_exist_ok=True)

    def act(path):
        place.edit("run.json", lambda r: naming(name, path)(r["data"]))
        outcome = judged("evaluate", place.given, data, "--device", "cpu")
        return outcome.code, outcome.out, outcome.messages

    unread(act)


def test_levels_of_a_transcript_are_not_read_from_a_file(place, judged, unread):
    def act(path):
        level = LEVELS[0]._replace(questions=("exist", path))
        line = {"metadata": {"level": level, "seed": 1, "index": 0}}
        (place.given / "t.jsonl").write_text(f"{json.dumps(line)}\n")
        return judged("verify", "--transcript", place.given / "t.jsonl").messages

    assert "no address of the gym" in unread(act)[0]


@pytest.mark.parametrize("name", ["questions", "paint"])
def test_settings_that_a_page_asks_for_are_not_read_from_a_file(name, unread):
    def act(path):
        request = {"entities": 5, "questions": ["exist"]}
        naming(name, path)(request)
        with pytest.raises(ValueError, match=Path(path).name) as refused:
            draw(request)
        return str(refused.value)

    unread(act)


# Visual Genome and texts


@pytest.fixture
def relationships(place):
    pytest.importorskip("msgspec", reason="needs msgspec: pip install '.[vg]'")
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install '.[vg]'")

    def write(name):
        ends = {"subject": {"object_id": 1, "name": name}, "object": {"object_id": 2, "name": "street"}}
        statement = {"relationship_id": 1, "predicate": f"on{name}", **ends}
        path = place.given / "relationships.json"
        path.write_text(json.dumps([{"image_id": 1, "relationships": [statement] * 20}]))
        return path

    return write


def test_names_of_visual_genome_are_text(place, judged, relationships):
    path = relationships(f"={EVIL}cmd")
    judged("vg", "prepare", path, "--out", "vg", "--steps", "none").succeeds()
    judged("vg", "stats", "vg").succeeds()
    judged("vg", "frequencies", "vg", "--top", 2, "--out", "f.csv").succeeds()
    assert all(not line.startswith("=") for line in Path("f.csv").read_text().splitlines())


@cases(
    table_is_a_link=lambda p: p.link("counts.parquet"),
    record_is_a_link=lambda p: p.link("prepared.json"),
    table_is_a_pickle=lambda p: p.pickled("predicates.parquet"),
)
def test_a_prepared_folder_leads_nowhere(change, place, judged, relationships):
    judged("vg", "prepare", relationships("car"), "--out", "vg", "--steps", "none").succeeds()
    shutil.copytree("vg", place.given, dirs_exist_ok=True)
    change(place)
    codes = [judged("vg", "stats", place.given).code, judged("vg", "frequencies", place.given).code]
    assert any(codes) or not (place.given / "counts.parquet").is_symlink()


def test_a_corpus_is_a_regular_file(place, judged):
    pytest.importorskip("torch", reason="needs PyTorch: pip install '.[probes]'")
    os.mkfifo(place.given / "corpus.txt")
    judged("lm", "train", place.given / "corpus.txt", "--arch", "lstm", "--out", "lm").refuses("corpus.txt")

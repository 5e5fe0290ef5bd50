"""What the studies read may come from a stranger: it is read within limits, and nothing outside is read,
written or deleted.
"""

import csv
import dataclasses
import gzip
import hashlib
import json
import os
import shutil
import sqlite3
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

for _name in ("torch", "transformers", "sklearn", "lemminflect", "pyarrow", "matplotlib", "msgspec"):
    pytest.importorskip(_name, reason=f"needs {_name}: pip install '.[probes,vg]'")
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import typer  # noqa: E402

from simtown.cli import commands  # noqa: E402, F401  (they register themselves)
from simtown.cli.probe import probe  # noqa: E402
from simtown.core.files import DamagedError, ForeignDirectoryError, RefusedError  # noqa: E402
from simtown.probes import grid, release_files  # noqa: E402
from simtown.probes.lm import train as lm  # noqa: E402
from simtown.probes.physical import results  # noqa: E402
from simtown.probes.physical.study import PHYSICAL  # noqa: E402
from simtown.probes.scorers import vectors  # noqa: E402
from simtown.probes.scorers.cache import Cached  # noqa: E402
from simtown.probes.scorers.oracle import Oracle  # noqa: E402
from simtown.probes.scorers.vectors import Vectors  # noqa: E402
from simtown.probes.spatial import arrays, matrix, released, suites, tables  # noqa: E402
from simtown.probes.spatial.judge import answers  # noqa: E402
from simtown.probes.spatial.judge.trials import trials_of  # noqa: E402
from simtown.probes.study import SUMMARY, TaskRequest, TaskResult  # noqa: E402
from simtown.probes.visual import coda, mined  # noqa: E402
from simtown.probes.visual.release import VisualRelease  # noqa: E402
from simtown.probes.visual.settings import VisualSettings  # noqa: E402
from simtown.probes.visual.study import VISUAL, VisualSource  # noqa: E402
from tests.probes.physical.world import write_release as write_physical  # noqa: E402
from tests.probes.spatial.world import save_dictionary  # noqa: E402
from tests.probes.spatial.world import write_release as write_spatial  # noqa: E402
from tests.probes.visual.world import write_release as write_visual  # noqa: E402

MB = 1 << 20
DEEP = "[" * 100_000


@pytest.fixture
def lean():
    """A test in which Python and NumPy allocate at most so many megabytes at once."""
    tracemalloc.start()
    limits = []
    yield limits.append
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < limits[0] * MB


@pytest.fixture(scope="module")
def line(tmp_path_factory):
    """One line of 64 MB, packed to 64 KB."""
    path = tmp_path_factory.mktemp("bombs") / "line.txt.gz"
    path.write_bytes(gzip.compress(b"a " * (32 * MB), 1))
    return path


@pytest.fixture
def outside(tmp_path):
    """A file that belongs to the reader, which nobody writes to; a test fails where it changes."""
    path = tmp_path / "of the reader.txt"
    path.write_text("mine")
    yield path
    assert path.read_text() == "mine"


# word vectors


def test_a_line_without_an_end_is_no_vector(line, lean):
    with pytest.raises(DamagedError, match="line 1 has more than"):
        Vectors.read("glove", line)
    lean(20)


@pytest.mark.parametrize("head", ["3 2000000000", "2000000000 3", f"a {'1 ' * 40_000}"])
def test_vectors_of_declared_sizes(tmp_path, head, lean):
    path = tmp_path / "vectors.txt"
    path.write_text(f"{head}\ncat 1 2\n")
    with pytest.raises(DamagedError, match="line"):
        Vectors.read("glove", path)
    lean(20)


def test_a_file_of_vectors_that_unpacks_to_far_too_much(tmp_path, monkeypatch, lean):
    monkeypatch.setattr(vectors, "FREE", 1 << 16)
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(gzip.compress(b"cat 1 2\n" * MB, 1))
    with pytest.raises(RefusedError, match="unpacks to more than 20 times"):
        Vectors.read("glove", path)
    lean(20)


@pytest.mark.parametrize("number", ["nan", "inf", "1e39", "1_0e400", "x"])
def test_vectors_are_finite(tmp_path, number):
    path = tmp_path / "vectors.txt"
    path.write_text(f"cat 1 2\ndog 3 {number}\n")
    with pytest.raises(DamagedError):
        Vectors.read("glove", path)


def test_a_word_twice_counts_once(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("cat 1 2\ndog 3 4\ncat 5 6\n")
    found = Vectors.read("glove", path)
    assert (len(found), found.word_vector("cat").tolist(), found.word_vector("dog").tolist()) == (
        2,
        [1, 2],
        [3, 4],
    )


def npy(path, shape, content=b"", descr="<f4"):
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": descr, "fortran_order": False, "shape": shape})
        file.write(content)
    return path


def test_arrays_of_vectors(tmp_path, outside):
    path, words = tmp_path / "vectors.npy", tmp_path / "vectors.vocab"
    words.write_text("cat\ndog\n")
    for shape in ((2, 10**12), (2, 3), (-2, -3), (2, 0, 10**30), (2, 2**62, 0)):
        with pytest.raises(DamagedError):
            Vectors.read("glove", npy(path, shape, b"1234"))
    for header in (
        b"\x93NUMPY\x01\x00\x76\x00" + b"(" * 118,
        b"\x93NUMPY\x01\x00\xff\xff",
        b"\x93NUMPY\x09\x00",
    ):
        path.write_bytes(header)
        with pytest.raises(DamagedError):
            Vectors.read("glove", path)
    np.save(path, np.ones((2, 3), dtype=np.float32))
    assert Vectors.read("glove", path).word_vector("dog").tolist() == [1, 1, 1]
    words.unlink()
    words.symlink_to(outside)
    with pytest.raises(RefusedError, match="symbolic link"):
        Vectors.read("glove", path)
    words.unlink()
    with words.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(RefusedError, match="too large"):
        Vectors.read("glove", path)


# released files


def test_texts_of_a_release(line, tmp_path, lean, monkeypatch):
    with pytest.raises(RefusedError, match="too large when unpacked"):
        release_files.read_text(line)
    lean(40)
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(RefusedError, match="no plain file"):
        release_files.read_text(tmp_path / "pipe.txt")


WIDE = "x" * (csv.field_size_limit() + 1)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pc/objects.tsv", f"uid\toriginal\tword-embedding\tctx\n{WIDE}\ta\ta\ta\n"),
        ("pc/objects.tsv", "uid\toriginal\tword-embedding\tctx\n\t\t\t\n"),
        ("pc/objects.tsv", f"uid\toriginal\tword-embedding\tctx\na\t{'s' * 10_000}\ta\ta\n"),
        ("pc/objects.tsv", "uid\toriginal\tword-embedding\tctx\n" + "a\ta\ta\ta\n" * 30_000),
        ("pc/abstract.csv", ""),
        (
            "pc/situated-affordances-sampled.csv",
            "cocoImgID,cocoAnnID,objectUID,affordancesYes,affordancesNo\n",
        ),
        ("nl/prop-freqs-nl.csv", "word,freq\nlarge,nan\n"),
        ("nl/aff-freqs-nl.csv", "word,freq\neat,1e999\n"),
        ("pc/abstract-test-object-uids.txt", ""),
        ("human/situated-OP-round1-annotations-first50.csv", "a,b\n"),
    ],
)
def test_releases_of_physical_commonsense(tmp_path, cli, file, text):
    folder = write_physical(tmp_path / "release")
    (folder / file).write_text(text)
    for table in ("forbes-table1", "forbes-table2"):
        found = cli("probe", "reproduce", table, "--data", folder)
        assert found.code in (0, 1), found.err
        assert len(found.messages) <= 1


COLOURS = "distributions/color-dist.json"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (COLOURS, DEEP),
        (COLOURS, '{"snow": [1e999]}'),
        (COLOURS, "[]"),
        (COLOURS, f'{{"snow": [{"9" * 400}]}}'),
        (COLOURS, '{"snow": [[]]}'),
        ("db/color/train.jsonl", DEEP),
        ("db/color/train.jsonl", '{"sub": {}}'),
        ("db/color/test.jsonl", ""),
        ("reference-results/pt_corrs.csv", f"{WIDE},color,snow,True,1\n"),
        ("reference-results/pt_corrs.csv", "a,color,snow,True,nan\n"),
        ("words/color-words.txt", "\x00"),
    ],
)
def test_releases_of_visual_commonsense(tmp_path, cli, file, text):
    folder = write_visual(tmp_path / "release")
    for place in folder.glob(f"{file}*"):
        place.unlink()
    (folder / file).write_text(text)
    for table in ("vicomte-table1", "vicomte-table3"):
        found = cli("probe", "reproduce", table, "--data", folder)
        assert found.code in (0, 1), found.err
        assert len(found.messages) <= 1


@pytest.mark.parametrize(
    "row",
    [
        {"class_id": []},
        {"class_id": {}},
        {"pink": float("nan")},
        {"pink": float("inf")},
        {"pink": -1},
        {"pink": 10**400},
        {"pink": []},
    ],
)
def test_ratings_of_colours(tmp_path, row):
    (tmp_path / "objects.jsonl").write_text('{"class_id": "a", "ngram": "apple"}\n')
    whole = {"class_id": "a", "included": True, **dict.fromkeys(coda.CODA_CLASSES, 1), **row}
    (tmp_path / "annotations.jsonl").write_text(json.dumps(whole) + "\n")
    with pytest.raises(DamagedError):
        coda.labels(tmp_path)


def test_ratings_without_end(tmp_path):
    (tmp_path / "objects.jsonl").write_text('{"class_id": "a", "ngram": "apple"}\n')
    rating = json.dumps({"class_id": "a", "included": True, **dict.fromkeys(coda.CODA_CLASSES, 1)})
    (tmp_path / "annotations.jsonl").write_text(f"{rating}\n" * 1_001)
    with pytest.raises(DamagedError, match="ratings"):
        coda.labels(tmp_path)


# what was mined


@pytest.fixture
def colours(tmp_path):
    """A directory as simtown probe visual mine makes it, of colours."""
    classes = ("black", "blue")
    counts = np.array([[0, 9], [8, 0], [1, 6]] * 3)
    mined.write(tmp_path / "mined", {"color": (classes, [f"thing {i}" for i in range(9)], counts)}, {}, None)
    return tmp_path / "mined"


def test_what_was_mined_comes_back(colours):
    subjects, counts = mined.Mined(colours).counts("color")
    assert (subjects[8], counts.tolist()) == ("thing 8", [[0, 9], [8, 0], [1, 6]] * 3)
    assert mined.Mined(colours).dataset("color").gold.tolist() == [1, 0, 1] * 3


@pytest.mark.parametrize(
    "change",
    [
        {"relations": []},
        {"relations": {"../outside": {"classes": ["a"]}}},
        {"relations": {"color": {"classes": "ab"}}},
        {"relations": {"color": {"classes": [[1]]}}},
        {"relations": {"color": {"classes": []}}},
        {"relations": {"color": None}},
    ],
)
def test_what_mined_json_must_hold(colours, cli, tmp_path, change):
    path = colours / mined.NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(DamagedError, match=r"mined\.json"):
        mined.Mined(colours)
    cli("probe", "visual", "--data", colours, "--model", "oracle:x", "--out", tmp_path / "o").refuses(
        "mined.json", code=1
    )


@pytest.mark.parametrize(
    "row",
    [
        {"classes": [[7]]},
        {"classes": [[-1]]},
        {"classes": [[0, 1]]},
        {"counts": [[float("nan")]]},
        {"counts": [[-1.0]]},
        {"classes": [[None]]},
        {"train": [False]},
        {"classes": [["0"]]},
        {"gold": ["puce"]},
        {"subject": [None]},
        {"train": [1]},
        {"classes": [[]], "counts": [[]]},
    ],
)
def test_what_its_tables_must_hold(colours, row):
    whole = {
        "subject": ["sky"],
        "train": [True],
        "gold": ["blue"],
        "other": ["black"],
        "classes": [[1]],
        "counts": [[9]],
    } | row
    more = {
        "subject": ["sea"],
        "train": [False],
        "gold": ["blue"],
        "other": ["black"],
        "classes": [[1]],
        "counts": [[9]],
    }
    tables = [pa.table(whole), pa.table(more)]
    assert mined.Mined(colours).dataset("color")
    try:
        pq.write_table(pa.concat_tables(tables, promote_options="permissive"), colours / "color.parquet")
    except pa.ArrowException:  # columns of other kinds
        pq.write_table(tables[0], colours / "color.parquet")
    with pytest.raises(DamagedError):
        mined.Mined(colours).dataset("color")


def test_a_table_of_too_many_cells(colours, lean):
    path = colours / mined.NAME
    content = json.loads(path.read_text())
    content["relations"]["color"]["classes"] = [str(i) for i in range(100_000)]
    path.write_text(json.dumps(content))
    rows = {
        "subject": [str(i) for i in range(1_000)],
        "train": [True] * 1_000,
        "gold": ["1"] * 1_000,
        "other": ["2"] * 1_000,
        "classes": [[1]] * 1_000,
        "counts": [[9]] * 1_000,
    }
    pq.write_table(pa.table(rows), colours / "color.parquet")
    with pytest.raises(DamagedError, match="too many"):
        mined.Mined(colours).counts("color")
    lean(100)


# directories of results


#: What summary.json says before any task is done.
FRESH = {"settings": {"model": "m"}, "tasks": {}}


def make_results(path, study, task, table, summary):
    with study.record.opened(path, FRESH) as content:
        study.write_task(path, content, task, TaskResult(table, summary))
    return path


DECISIONS = {
    "left": ["a", "b"],
    "right": ["p", "p"],
    "object": ["a", "b"],
    "label": [True, False],
    "said": [True, True],
    "score": [1.0, 0.5],
}
SUBJECTS = {"mode": ["best"], "subject": ["sky"], "group": ["any"], "rho": [0.5], "right": [True]}


@pytest.mark.parametrize(
    ("study", "task", "whole", "column", "values"),
    [
        (PHYSICAL, "abstract-OP", DECISIONS, "label", [1, 0]),
        (PHYSICAL, "abstract-OP", DECISIONS, "left", [None, "b"]),
        (PHYSICAL, "abstract-OP", DECISIONS, "score", ["1", "2"]),
        (PHYSICAL, "abstract-OP", DECISIONS, "said", None),
        (PHYSICAL, "abstract-OP", DECISIONS, "score", [10**18, 1]),
        (VISUAL, "color", SUBJECTS, "rho", [None]),
        (VISUAL, "color", SUBJECTS, "mode", [[1]]),
        (VISUAL, "color", SUBJECTS, "right", None),
    ],
)
def test_tables_of_results(tmp_path, cli, study, task, whole, column, values):
    table = {name: content for name, content in (whole | {column: values}).items() if content is not None}
    paths = [make_results(tmp_path / name, study, task, table, {}) for name in "ab"]
    found = cli("probe", "compare", *paths)
    assert found.code in (0, 1), found.err
    assert len(found.messages) <= 1
    assert found.code == 1 or column == "score"


@pytest.mark.parametrize(
    "tasks", ["[]", '{"../../outside": {}}', '{"abstract-OP": []}', DEEP, "{}", '{"abstract-OP": {}}']
)
def test_summaries_of_results(tmp_path, cli, tasks):
    path = make_results(tmp_path / "a", PHYSICAL, "abstract-OP", DECISIONS, {})
    head = f'"format": "{PHYSICAL.record.form}", "schema": 1, "settings": {{"model": "m"}}'
    (path / SUMMARY).write_text(f'{{{head}, "tasks": {tasks}}}')
    (path / "abstract-OP.parquet").unlink()
    cli("probe", "compare", path, path).refuses(code=2 if tasks == "{}" else 1)
    for content in (DEEP, '"text"', '{"format": []}', "9" * 5000):
        (path / SUMMARY).write_text(content)
        found = cli("probe", "compare", path, path)
        assert found.code in (1, 2), found.err
        assert len(found.messages) == 1


def test_results_that_say_what_no_study_says(tmp_path, cli):
    """Another model's row is added to the paper's table from a summary alone."""
    release = write_visual(tmp_path / "release")
    for told in (
        {"modes": []},
        {"modes": {"average": 1}},
        {"modes": {"average": {"groups": {"all": {"rho": {"mean": "x", "sd": 1}}}}}},
        {"modes": {"average": {"groups": {"all": {"rho": {"mean": 10**400, "sd": 1}}}}}},
    ):
        path = tmp_path / "run"
        make_results(path, VISUAL, "color", SUBJECTS, told)
        cli("probe", "reproduce", "vicomte-table3", "--data", release, "--with", path).refuses(
            "does not belong", code=1
        )
        shutil.rmtree(path)


def test_results_behind_links_and_leftovers(tmp_path, outside):
    path = make_results(tmp_path / "a", PHYSICAL, "abstract-OP", DECISIONS, {})
    (path / "abstract-OP.parquet").rename(tmp_path / "elsewhere.parquet")
    (path / "abstract-OP.parquet").symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(RefusedError, match="symbolic link"):
        results.decisions(path, "abstract-OP")
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / ".thesis.tmp").write_text("mine")
    with (
        pytest.raises(ForeignDirectoryError, match=r"\.thesis\.tmp"),
        PHYSICAL.record.opened(strange, FRESH),
    ):
        pass
    (strange / ".thesis.tmp").unlink()
    (strange / ".summary.json.0123456789abcdef.tmp").write_text("half")
    with PHYSICAL.record.opened(strange, FRESH):
        assert [file.name for file in strange.iterdir()] == ["summary.json"]


def test_prompts_are_not_saved_behind_a_link(tmp_path, outside, model, monkeypatch):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "prompts").symlink_to(elsewhere)
    source = VisualSource(VisualRelease(write_visual(tmp_path / "release")))
    request = TaskRequest("color", source, VisualSettings("m", "tuned"), out, lambda policy: Oracle())
    with pytest.raises(RefusedError, match="symbolic link"):
        VISUAL.ask(request)
    assert not list(elsewhere.iterdir())


# spatial relations


def test_tables_of_numbers(line, tmp_path, lean, outside):
    with pytest.raises(RefusedError, match="too large"):
        tables.read_table(line)
    lean(40)
    (tmp_path / "link.tsv").symlink_to(outside)
    with pytest.raises(RefusedError, match="symbolic link"):
        tables.read_table(tmp_path / "link.tsv")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (released.TEMPLATES, DEEP),
        (released.TEMPLATES, '{"above": [[1e999]]}'),
        (released.TEMPLATES, "[]"),
        (released.MATRIX, "row\ton\n"),
        (released.TEMPLATES, json.dumps({"above": [[float("nan")] * 7] * 7})),
        (released.TEMPLATES, f'{{"above": {"9" * 400}}}'),
        (released.MATRIX, "row\ton\non\t1e308\n"),
        (released.SIMILARITY, "row\ton\non\t1\n"),
        (released.TEMPLATES, '{"above": {}}'),
    ],
)
def test_releases_of_spatial_relations(tmp_path, cli, file, text):
    folder = write_spatial(tmp_path / "release")
    (folder / file).write_text(text)
    for table in ("spatial-figure3", "spatial-analogy", "spatial-odd-one-out", "spatial-similarity"):
        found = cli("probe", "reproduce", table, "--data", folder)
        assert found.code in (0, 1, 2), found.err
        assert len(found.messages) <= 1


class Encoded:
    """An array's bytes as a text, in an encoding that the file names."""

    def __init__(self, text, encoding):
        self.words = (text, encoding)

    def __reduce__(self):
        import _codecs

        return _codecs.encode, self.words


@pytest.mark.parametrize("encoding", ["zlib_codec", "punycode", "idna", "no such"])
def test_a_pickled_text_is_latin_alone(tmp_path, encoding):
    path = save_dictionary(tmp_path / "saved.npy", {"above": Encoded("x", encoding)})
    with pytest.raises(DamagedError, match=r"saved\.npy"):
        arrays.read_dictionary(path)


def test_a_pickled_text_is_not_copied_again_and_again(tmp_path, lean):
    text = "x" * 100_000
    path = save_dictionary(tmp_path / "saved.npy", {str(i): Encoded(text, "latin1") for i in range(2_000)})
    assert path.stat().st_size < MB
    with pytest.raises(DamagedError):
        arrays.read_dictionary(path)
    lean(30)


def test_arrays_of_a_clone(tmp_path, outside):
    for shape, descr in (((10**9, 300), "<f4"), ((2,), "<U1000000000"), ((2,), "|O"), ((0, 2**62), "<f8")):
        with pytest.raises(DamagedError):
            arrays.read_array(npy(tmp_path / "array.npy", shape, b"1234", descr))
    (tmp_path / "link.npy").symlink_to(outside)
    for read in (arrays.read_array, arrays.read_dictionary):
        with pytest.raises(RefusedError, match="symbolic link"):
            read(tmp_path / "link.npy")


class Counting(Oracle):
    def sequence_logprobs(self, texts):
        from simtown.probes.scorers.base import TokenScores

        return [TokenScores(np.zeros(2), np.arange(2)) for _ in texts]


def test_scores_are_not_written_behind_a_link(tmp_path):
    bins = suites.Suites(("on",), (("a", "b"),), np.ones((1, 1), dtype=np.int64), {}, 1, 1)
    outside = tmp_path / "outside.npy"
    np.save(outside, np.full((1, 1, 2), np.nan))
    before = outside.read_bytes()
    path = tmp_path / "scores.npy"
    for link in (path.symlink_to, path.hardlink_to):
        link(outside)
        with pytest.raises(RefusedError):
            matrix.score(Counting(), bins, ("on",), path)
        path.unlink()
    path.symlink_to(tmp_path / "not there")
    with pytest.raises(RefusedError):
        matrix.score(Counting(), bins, ("on",), path)
    path.unlink()
    npy(path, (1, 1, 2), b"", "<f8")
    size = path.stat().st_size
    with pytest.raises(DamagedError):
        matrix.score(Counting(), bins, ("on",), path)
    assert (outside.read_bytes(), path.stat().st_size, (tmp_path / "not there").exists()) == (
        before,
        size,
        False,
    )
    path.unlink()
    assert matrix.score(Counting(), bins, ("on",), path).tolist() == [[[0, 2]]]
    assert np.load(path).tolist() == [[[0, 2]]]


# judgements


def test_answers_are_not_written_behind_a_link(tmp_path):
    (tmp_path / "empty.csv").touch()
    os.mkfifo(tmp_path / "pipe.csv")
    for place in ("empty.csv", "new.csv"):
        (tmp_path / "answers.csv").symlink_to(tmp_path / place)
        with pytest.raises(RefusedError, match="symbolic link"):
            answers.RatingsFile(tmp_path / "answers.csv")
        (tmp_path / "answers.csv").unlink()
    with pytest.raises(RefusedError, match="no plain file"):
        answers.RatingsFile(tmp_path / "pipe.csv")
    assert (tmp_path / "empty.csv").read_bytes() == b""
    assert not (tmp_path / "new.csv").exists()


@pytest.mark.parametrize(
    "row",
    [
        "{w},{n},{k},{a},{b},50,nan",
        "{w},{n},{k},{a},{b},50,inf",
        "{w},{n},{k},{a},{b},50,-1",
        f"{{w}},{'9' * 5000},{{k}},{{a}},{{b}},50,1",
        "{w},-1,{k},{a},{b},50,1",
        f"{WIDE},0,pair,a,b,50,1",
        '"{w},0',
        "=1+1,{n},{k},{a},{b},50,1",
        "\x1b[2J,{n},{k},{a},{b},50,1",
    ],
)
def test_answers_of_a_stranger(tmp_path, cli, row):
    trial = trials_of(row.partition(",")[0] if not row.startswith("{w}") else "ann")[0]
    path = tmp_path / "answers.csv"
    line = row.format(w="ann", n=0, k=trial.kind, a=trial.first, b=trial.second)
    path.write_text(f"{','.join(answers.HEAD)}\n{line}\n")
    cli("probe", "spatial", "judgements", path).refuses("line 2 is no judgement", code=1)


def test_answers_without_end(tmp_path, cli):
    with (tmp_path / "answers.csv").open("wb") as file:
        file.truncate(1 << 40)
    cli("probe", "spatial", "judgements", tmp_path / "answers.csv").refuses("too large")


# grids


def grid_file(path, *lines):
    path.write_text("version = 1\n[[grid]]\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "lines",
    [
        ('study = "physical"', 'out = "x"'),
        ('study = "visual"', 'save = "x"'),
        ('study = "visual"', 'cache = "x"'),
        ('study = "spatial"', 'held-out = "judge"'),
        ('study = "spatial"', 'town = "x"'),
        ('study = "physical"', "model = true"),
        ('study = "physical"', "help = true"),
        ('study = ["physical"]', 'model = "m"'),
        ("study = 1", 'model = "m"'),
        ('study = "physical"', '"" = "m"'),
        ('study = "physical"', 'model = ["a", ["b"]]'),
        ('study = "physical"', "seed = 1979-05-27"),
    ],
)
def test_options_of_a_grid(tmp_path, lines):
    with pytest.raises(grid.GridError):
        grid.read(grid_file(tmp_path / "grid.toml", *lines))


def test_every_option_of_a_study_is_known_to_grids():
    """But for --out, --help and what would let the code of a file run."""
    for name, command in typer.main.get_command(probe).commands.items():
        if name in grid.OPTIONS:
            options = {
                parameter.opts[0].removeprefix("--"): getattr(parameter, "is_flag", False)
                for parameter in command.params
            }
            del options["out"], options["cache"]
            assert {option for option, flag in options.items() if not flag} == grid.OPTIONS[name]
            assert {option for option, flag in options.items() if flag} == grid.FLAGS[name]


@pytest.mark.parametrize(
    "content",
    [
        "version = 1\ngrid = [1]",
        "version = 1\ngrid = [[]]",
        f"version = 1\ngrid = {DEEP}",
        "\xff",
        "a." * 50_000,
        "a." * 10_000,
    ],
)
def test_grids_that_are_none(tmp_path, content, cli):
    (tmp_path / "grid.toml").write_text(content, encoding="latin-1")
    cli("probe", "grid", tmp_path / "grid.toml", "--out", tmp_path / "out", "--plan").refuses("grid.toml")


def test_grids_of_too_many_cells(tmp_path):
    options = [
        f"{name} = {list(range(100))}" for name in ("model", "task", "set", "head", "protocol", "seed")
    ]
    with pytest.raises(grid.GridError, match="1,000,000,000,000 cells"):
        grid.read(grid_file(tmp_path / "grid.toml", 'study = "physical"', *options))
    many = [f"m{i}" for i in range(1_500)]
    assert len(grid.read(grid_file(tmp_path / "grid.toml", 'study = "physical"', f"model = {many}"))) == 1_500


def test_cells_are_not_written_behind_a_link(tmp_path, outside):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "physical-majority").symlink_to(elsewhere)
    cells = grid.read(grid_file(tmp_path / "grid.toml", 'study = "physical"', 'model = "majority"'))
    assert "symbolic link" in grid._study(cells[0], str(out), str(tmp_path), 1)
    assert not list(elsewhere.iterdir())


# language models of one's own


class Saved:
    """What save_pretrained of transformers does: it opens its files by name."""

    def save_pretrained(self, directory):
        for name in ("tokenizer.json", lm.TOKENIZER):
            (Path(directory) / name).write_text("{}")


def test_models_are_not_saved_behind_links(tmp_path, outside):
    directory = tmp_path / "lm"
    directory.mkdir()
    (directory / "tokenizer.json").symlink_to(outside)
    lm._save(Saved(), directory, last=lm.TOKENIZER)
    assert {path.name: path.read_text() for path in directory.iterdir()} == {
        "tokenizer.json": "{}",
        lm.TOKENIZER: "{}",
    }


class Silent:
    """A callback that is told nothing worth keeping."""

    def on_begin(self, total, done=0): ...

    def on_progress(self, count, seconds=None): ...

    def say(self, line): ...


@pytest.mark.parametrize(
    "change",
    [
        {"status": "done"},
        {
            "status": "done",
            "validation_perplexity": "1",
            "phrases": {},
            "parameters": 1,
            "vocabulary": 1,
            "seconds": 1,
        },
        {"settings": []},
        {"corpus": None},
        {"status": None, "settings": {}},
    ],
)
def test_runs_that_say_what_no_run_says(tmp_path, change):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a b c\n" * 40)
    settings = lm.LMSettings("lstm", 1, 20, 8, 0.01)
    (tmp_path / "lm").mkdir()
    whole = {
        "format": lm.RECORD.form,
        "status": "running",
        "settings": dataclasses.asdict(settings),
        "corpus": {"sha256": hashlib.sha256(corpus.read_bytes()).hexdigest()},
    }
    (tmp_path / "lm" / lm.RUN).write_text(json.dumps(whole | change))
    with pytest.raises((DamagedError, ForeignDirectoryError)):
        lm.train(settings, corpus, tmp_path / "lm", Silent())


# the cache of answers


def cached(directory):
    return Cached(Oracle(texts={"a": [0.5]}), "identity", directory)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW answers AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x "
        "key, x logprobs, 0 words FROM n",
        "CREATE TABLE answers (key, logprobs, words)",
        "CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END",
        "CREATE TABLE more (x)",
    ],
)
def test_a_cache_is_one_table(tmp_path, statement):
    path = tmp_path / "answers.sqlite"
    if "TRIGGER" in statement or "more" in statement:
        cached(tmp_path)
    with sqlite3.connect(path) as store:
        store.execute(statement)
    store.close()
    with pytest.raises(DamagedError, match=r"answers\.sqlite"):
        cached(tmp_path)


@pytest.mark.parametrize("answer", [b"odd", "text", 1, bytes(2_000_000), bytes(16)])
def test_answers_of_a_cache(tmp_path, answer):
    first = cached(tmp_path)
    assert first.sequence_logprobs(["a"])[0].logprobs.tolist() == [np.log(0.5)]
    with sqlite3.connect(tmp_path / "answers.sqlite") as store:
        store.execute("UPDATE answers SET logprobs = ?", (answer,))
    store.close()
    if answer == bytes(16):
        return
    with pytest.raises(DamagedError, match="cache"):
        cached(tmp_path).sequence_logprobs(["a"])


def test_a_cache_behind_links_or_with_a_journal_that_deletes(tmp_path, outside):
    for name in ("answers.sqlite", "answers.sqlite-journal", "answers.sqlite-wal", "answers.sqlite-shm"):
        (tmp_path / name).symlink_to(outside)
        with pytest.raises(RefusedError, match="symbolic link"):
            cached(tmp_path)
        (tmp_path / name).unlink()
    (tmp_path / "answers.sqlite-journal").write_bytes(
        str(outside).encode() + bytes(8) + bytes.fromhex("d9d505f920a163d7")
    )
    with pytest.raises(RefusedError, match="names another file"):
        cached(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        DEEP,
        '{"texts": []}',
        '{"texts": {"a": "b"}}',
        '{"texts": {"a": [1e999]}}',
        '{"texts": {"a": [NaN]}}',
        '{"other": {}}',
        "[]",
        '{"classes": {"a": [1]}}',
        '{"vectors": {"a": [[1]]}}',
        '{"vectors": null}',
        f'{{"vectors": {{"a": [{"9" * 5000}]}}}}',
    ],
)
def test_answers_that_are_given(tmp_path, content):
    (tmp_path / "oracle.json").write_text(content)
    with pytest.raises(DamagedError, match=r"oracle\.json"):
        Oracle.read("oracle", tmp_path / "oracle.json")

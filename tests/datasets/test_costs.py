"""What a command will take, against what it takes."""

from dataclasses import replace

import pytest

from simtown.core.amounts import duration, size
from simtown.datasets import costs
from simtown.datasets.export import FORMATS, export
from simtown.datasets.gallery import gallery
from simtown.datasets.job import generate
from simtown.datasets.reader import open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.shards import layout, tasks
from simtown.datasets.stored import Shard


@pytest.fixture(
    scope="module", params=[(64, 32), (128, 128), (256, 256)], ids=lambda given: f"{given[0]}x{given[1]}"
)
def measured(request, tmp_path_factory):
    """The settings of a data set with masks and depth, and bytes an example of its pictures, by name, and of
    all the rest.
    """
    width, height = request.param
    settings = Settings(
        entities=20, n=48, val=0, test=0, width=width, height=height, masks=True, depth=True, shard=48
    )
    directory = tmp_path_factory.mktemp("measured") / "town"
    manifest = generate(settings, directory, workers=1)
    shard = Shard(directory / "train-00000.h5", layout(settings), 48)
    pictures = {name: shard.file[name].id.get_storage_size() / 48 for name in ("images", "masks", "depth")}
    shard.close()
    return settings, pictures, manifest["shards"]["train-00000.h5"]["bytes"] / 48 - sum(pictures.values())


@pytest.mark.parametrize("masks", [False, True])
@pytest.mark.parametrize("depth", [False, True])
def test_bytes_of_an_example(masks, depth, measured):
    settings, pictures, rest = measured
    stored = ["images", *(["masks"] if masks else []), *(["depth"] if depth else [])]
    # A shard has some kilobytes of its own, which count for little among as many examples as shards have.
    wanted = sum(pictures[name] for name in stored) + min(rest, 760)
    told = sum(costs.example_bytes(replace(settings, masks=masks, depth=depth)).values())
    assert told == pytest.approx(wanted, rel=0.25)


@pytest.mark.parametrize("pixels", [500, 1_024, 5_000, 262_144, 4_000_000])
def test_larger_pictures_take_more_bytes_but_fewer_a_pixel(pixels):
    for known in costs._PICTURES.values():
        less, more = (costs._between(known, count) for count in (pixels, 2 * pixels))
        assert less < more < 2 * less


def test_weathers_count(measured):
    settings, _, _ = measured
    told = {
        name: costs.example_bytes(replace(settings, weathers=(name,)))["images"] for name in ("clear", "rain")
    }
    assert told["clear"] < costs.example_bytes(settings)["images"] < told["rain"]


def test_what_is_there_of_a_data_set_is_not_counted(many):
    settings, names = open_dataset(many).settings, [task.name for task in tasks(open_dataset(many).settings)]
    whole = costs.of_generate(settings, {}, "cpu")
    half = costs.of_generate(settings, dict.fromkeys(names[1:], 150000), "cpu")
    assert (whole.pieces, whole.files) == (len(names), len(names) + 3)
    assert (half.pieces, half.files) == (1, 4)
    assert half.bytes == pytest.approx(150_000, rel=0.3)  # by those that are there, and the manifest
    assert costs.of_generate(settings, dict.fromkeys(names, 1), "cpu").words(2) == "nothing is missing"


@pytest.mark.parametrize(
    ("form", "which"), [*((form, "many") for form in FORMATS), ("png", "rich"), ("webdataset", "rich")]
)
def test_exports_take_what_was_told(form, which, request, tmp_path):
    if form == "parquet":
        pytest.importorskip("pyarrow", reason="needs pyarrow: pip install '.[export]'")
    data = open_dataset(request.getfixturevalue(which))
    splits = ["train", "test"]
    told = costs.of_export(data, form, splits)
    export(data, form, splits, tmp_path / form)
    files = [path for path in (tmp_path / form).rglob("*") if path.is_file()]
    if which == "many":  # of few examples, what stands beside them counts for more
        assert told.bytes == pytest.approx(sum(path.stat().st_size for path in files), rel=0.25)
    assert told.files == pytest.approx(len(files), abs=6)


@pytest.mark.parametrize("everything", [False, True])
def test_a_gallery_takes_what_was_told(everything, many, tmp_path, monkeypatch):

    monkeypatch.setattr("simtown.datasets.gallery.SAMPLE", 200)
    data = open_dataset(many)
    told = costs.of_gallery(data, everything)
    gallery(data, tmp_path / "page", everything=everything)
    files = [path for path in (tmp_path / "page").rglob("*") if path.is_file()]
    page = (tmp_path / "page" / "index.html").stat().st_size
    assert told.bytes == pytest.approx(sum(path.stat().st_size for path in files) - page, rel=0.25)
    assert told.files == pytest.approx(len(files), abs=6)


WRITING = [
    ("generate", "--n", 40_000, "--out"),
    ("export", "--to", "png", "--out"),
    ("gallery", "--out"),
    ("captions", "--out"),
]


@pytest.mark.parametrize("words", WRITING)
def test_a_plan_writes_nothing(words, many, cli, tmp_path):
    source = [] if words[0] == "generate" else [many]
    done = cli(words[0], *source, *words[1:], tmp_path / "made", "--plan").succeeds()
    assert done.out.startswith(f"{words[0]} {tmp_path / 'made'}: writes about ")
    assert " free at " in done.out
    assert not done.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", WRITING)
def test_too_little_room_is_refused_before_anything_is_written(words, many, cli, tmp_path, monkeypatch):
    source = [] if words[0] == "generate" else [many]
    monkeypatch.setattr(costs, "free", lambda place: 10_000)
    cli(words[0], *source, *words[1:], tmp_path / "made").refuses(
        "where 10 kB are free", str(tmp_path), "another --out"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("words", [("export", "--to", "png"), ("gallery",)])
def test_an_occupied_directory_is_refused_before_anything_is_said_of_the_cost(words, many, cli, tmp_path):
    (tmp_path / "mine.txt").touch()
    outcome = cli(words[0], many, *words[1:], "--out", tmp_path, "--plan")
    outcome.refuses("writes over nothing", "another --out")


def test_an_address_that_cannot_be_read_is_refused_before_anything_is_said_of_the_cost(cli, tmp_path):
    outcome = cli("generate", "--engine", "ray", "--address", "nowhere", "--out", tmp_path / "town")
    outcome.refuses("--address nowhere cannot be read")
    assert "writes about" not in outcome.err


def test_a_plan_for_a_cluster_starts_none(cli, tmp_path):
    done = cli(
        "generate", "--n", 4_000_000, "--engine", "ray", "--out", tmp_path / "made", "--plan"
    ).succeeds()
    assert "of one core's work" in done.out
    assert (
        "on 4 cores"
        in cli(
            "generate",
            "--n",
            400_000,
            "--engine",
            "ray",
            "--workers",
            4,
            "--out",
            tmp_path / "made",
            "--plan",
        ).out
    )
    assert not list(tmp_path.iterdir())


def test_captions_take_what_was_told(many, cli, tmp_path):
    told = costs.of_captions(open_dataset(many))
    cli("captions", many, "--out", tmp_path / "captions.txt").succeeds()
    assert told.bytes == pytest.approx((tmp_path / "captions.txt").stat().st_size, rel=0.25)


def test_a_command_says_what_it_will_take(many, cli, tmp_path, monkeypatch):
    from simtown.cli import costs as told

    quick = cli("gallery", many, "--out", tmp_path / "one").succeeds()
    monkeypatch.setattr(told, "MOMENT", 0.0)
    slow = cli("gallery", many, "--out", tmp_path / "two").succeeds()
    assert "writes about" not in quick.err
    assert f"gallery {tmp_path / 'two'}: writes about " in slow.err
    assert "2 files" not in quick.messages  # it is progress, not a message
    assert "of one core" not in cli("verify", many, "--pictures", 0).succeeds().err


def test_time_is_shared_by_as_many_cores_as_there_are_pieces():
    cost = costs.Cost(100.0, pieces=4)
    assert [cost.lasting(cores) for cores in (1, 2, 4, 64)] == [100, 50, 25, 25]
    assert cost.words(64) == "about 26 s on 4 cores"  # with its start
    assert cost.words(None) == "about 2 min of one core's work"
    assert replace(cost, seconds=0.02).words(None) == "about 1 s of one core's work"
    assert costs.Cost(None, bytes=1_500_000, files=1).words(2) == "writes about 1.5 MB in 1 file"


def test_the_start_of_a_command_counts_for_few_examples(rich):
    data = open_dataset(rich)
    for cost in (costs.of_gallery(data, True), costs.of_export(data, "png", ["train"])):
        assert cost.lasting(1) < 0.5
        assert "about 2 s on 1 core" in cost.words(1)


def test_amounts_in_words():
    assert [size(n) for n in (0, 999, 1_000, 9_940, 9_999, 12_345_678, 999_600_000, 1.2e9, 15e12)] == [
        "0 bytes",
        "999 bytes",
        "1.0 kB",
        "9.9 kB",
        "10 kB",
        "12 MB",
        "1.0 GB",
        "1.2 GB",
        "15 TB",
    ]
    assert [duration(s) for s in (3.2, 600, 12_600, 259_200)] == ["3 s", "10 min", "3.5 h", "3 days"]


def test_a_plan_is_refused_where_the_run_would_be(tmp_path, cli, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("generate", "--entities", 3, "--n", 4, "--val", 2, "--test", 2, "--size", 32, "--workers", 1)
    cli(*words, "--out", "town").succeeds()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    for out, told in (("town", "--seed 0, now 5"), ("file", "is a file"), ("folder", "other files (mine)")):
        cli(*words, "--seed", 5, "--out", out, "--plan").refuses(out, told)
    assert "nothing is missing" in cli(*words, "--out", "town", "--plan").succeeds().out
    cli(*words, "--out", "new", "--plan").succeeds()
    assert sorted(tmp_path.rglob("*")) == before

"""Runs on sequences: trained, scored and asked about all pictures of an example."""

import pytest
from PIL import Image

from simtown import Settings, generate, open_dataset


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    out = tmp_path_factory.mktemp("sequences") / "town"
    size = {"n": 24, "val": 8, "test": 8, "width": 32, "height": 32, "entities": 12}
    generate(Settings(sequence="time", **size), out)
    return out


@pytest.mark.parametrize("model", ["cnn-lstm", "order-blind", "one-picture"])
def test_a_run_answers_about_all_pictures(cli, sequences, tmp_path, model):
    out = tmp_path / "run"
    words = ("--model", model, "--max-steps", 2, "--device", "cpu", "--out", out)
    assert cli("fit", sequences, *words).code == 0
    assert cli("evaluate", out, sequences).code == 0
    example = open_dataset(sequences).test[0]
    paths = [tmp_path / f"{number}.png" for number in range(len(example.image))]
    for path, pixels in zip(paths, example.image, strict=True):
        Image.fromarray(pixels).save(path)
    assert cli("predict", out, *paths, example.question).code == 0
    cli("predict", out, paths[0], example.question).refuses("4 pictures")


def test_a_model_of_the_papers_question_is_refused(cli, sequences, tmp_path):
    cli("fit", sequences, "--model", "pbn", "--out", tmp_path / "run").refuses("pbn")

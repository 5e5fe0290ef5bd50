"""A dry run predicts what the run then takes, and leaves nothing behind."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as some
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from simtown import open_dataset
from simtown.core.files import ForeignDirectoryError
from simtown.vlm.cost_estimate import PROBES, RULES, estimate
from simtown.vlm.evaluation_plan import open_evaluation
from simtown.vlm.vlm_run import ANSWERS_FILE, evaluate_model
from simtown.vlm.vlm_settings import VlmSettings
from tests.vlm.chat_server import serving

#: Tokens of pictures that the providers' manuals give as examples.
PUBLISHED = [
    ("OpenAI", 512, 512, 255),
    ("OpenAI", 1024, 1024, 765),
    ("OpenAI", 2048, 4096, 1105),
    ("Anthropic", 200, 200, 54),
    ("Anthropic", 1000, 1000, 1334),
    ("Anthropic", 1092, 1092, 1590),
    ("Gemini", 384, 384, 258),
    ("Gemini", 1024, 1024, 4 * 258),
]


def numbers(line):
    return [float(found.replace(",", "")) for found in re.findall(r"\d[\d,]*(?:\.\d+)?", line)]


@pytest.mark.parametrize(("name", "width", "height", "tokens"), PUBLISHED)
def test_pictures_have_the_tokens_that_are_published(name, width, height, tokens):
    assert RULES[name](width, height) == tokens


@given(some.integers(56, 2000), some.integers(56, 2000))
def test_patches_of_qwen_are_those_of_its_own_code(width, height):
    sides = smart_resize(height, width, factor=28, min_pixels=56**2, max_pixels=16384 * 28**2)
    assert RULES["Qwen2-VL"](width, height) == sides[0] // 28 * (sides[1] // 28)


@pytest.mark.parametrize(
    "how",
    [{"controls": 0}, {"controls": 5}, {"controls": 0, "samples": 3}, {"controls": 2, "shots": 2}],
    ids=str,
)
def test_the_run_takes_what_was_predicted(paper, tmp_path, how):
    settings, out, pictures = VlmSettings(**how, price="2,10"), tmp_path / "out", []
    with serving(lambda prompt, picture: pictures.append(picture) or "yes") as server:
        first, *rules, _, tokens = estimate(open_evaluation(server.model, paper, settings), out)
        assert 0 < len(server.bodies) <= PROBES
        assert not out.exists()
        before = len(server.bodies)
        evaluate_model(server.model, paper, settings, out)
        requests, shown = server.bodies[before:], 0
        for request in requests:
            parts = [part for message in request["messages"] for part in message["content"]]
            shown += sum(part["type"] == "image_url" for part in parts if isinstance(part, dict))
    assert numbers(first) == [len(requests), shown, 64, 64]
    assert [numbers(line)[-1] for line in rules] == [shown * rule(64, 64) for rule in RULES.values()]
    total = evaluate_model(server.model, paper, settings, out).content["total"]
    assert numbers(tokens) == [total["read"], total["written"], round(total["cost"], 4)]


def test_what_is_answered_costs_nothing(paper, tmp_path):
    out, alone = tmp_path / "out", VlmSettings(controls=0)
    with serving(lambda *_: "yes") as server:
        evaluate_model(server.model, paper, VlmSettings(controls=0, examples=20), out)
        before = {path: path.read_bytes() for path in out.iterdir() if path.is_file()}
        first, *_ = estimate(open_evaluation(server.model, paper, alone), out)
        assert numbers(first)[0] == 4
        assert {path: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
        evaluate_model(server.model, paper, alone, out)
        asked = len(server.bodies)
        (nothing,) = estimate(open_evaluation(server.model, paper, alone), out)
        assert numbers(nothing) == []
        assert len(server.bodies) == asked
        others = open_evaluation(server.model, paper, VlmSettings(controls=0, max_tokens=7))
        with pytest.raises(ForeignDirectoryError, match="max_tokens"):
            list(estimate(others, out))
    assert (out / ANSWERS_FILE).read_text().count("\n") == 24


@pytest.mark.parametrize(("parallel", "rate", "seconds"), [(8, None, 92 * 0.5 / 8), (4, 600, 92 * 0.5 / 4)])
def test_time_is_that_of_requests_side_by_side(towns, tmp_path, parallel, rate, seconds):
    settings = VlmSettings(controls=0, parallel=parallel, rate=rate)
    with serving(lambda *_: time.sleep(0.5) or "yes") as server:
        evaluation = open_evaluation(server.model, open_dataset(towns[1]), settings)
        probed = next(line for line in estimate(evaluation, tmp_path) if "probe" in line)
    assert numbers(probed)[-1] == pytest.approx(seconds, rel=0.4)


def test_no_more_than_the_rate_is_predicted(towns, tmp_path):
    settings = VlmSettings(controls=0, rate=1200)
    with serving(lambda *_: "yes") as server:
        evaluation = open_evaluation(server.model, open_dataset(towns[1]), settings)
        probed = next(line for line in estimate(evaluation, tmp_path) if "probe" in line)
    assert numbers(probed)[-1] >= round(92 * 60 / 1200)


def test_the_command_predicts_and_writes_nothing(towns, tmp_path, together):
    with serving(lambda *_: "yes") as server:
        calls = [
            ["evaluate", server.model, towns[0], "--dry-run", "--out", tmp_path / "out"],
            ["evaluate", server.model, "--over", "entities=2", "--dry-run"],
        ]
        predicted, refused = together(*calls, cwd=tmp_path)
        assert len(server.bodies) <= PROBES
    assert predicted.code == 0, predicted.err
    assert not (tmp_path / "out").exists()
    assert refused.code == 2
    assert "--dry-run" in refused.err

"""The battery of `simtown check`: faults that are planted before a simulated model are named."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from benchmarks.machine import read_rows
from benchmarks.simulated_sight import FAULTS, Eye, SimulatedModel, serving
from simtown.vlm import check_battery
from simtown.vlm.check_battery import ask_battery, next_length
from simtown.vlm.check_page import page
from simtown.vlm.check_probes import PROBES, EmptyStreet
from simtown.vlm.check_run import ALL_WELL, NOTHING_TOLD, SOMETHING_LOST, CheckReport, check_model, compare
from simtown.vlm.check_verdicts import (
    CANNOT_TELL,
    DELIVERED,
    LOOKS,
    MANY,
    NOT_DELIVERED,
    PairRow,
    Verdict,
    correct,
    judge,
    smallest_seen,
)
from simtown.vlm.models import open_model
from simtown.vlm.vision_model import Said
from simtown.vlm.vlm_settings import CheckSettings
from tests.vlm import chat_server

ROOT = Path(__file__).parents[2]
SIDE, QUESTIONS = 112, 300


@pytest.fixture
def small(monkeypatch):
    """Small pictures, which are drawn and looked through faster."""
    monkeypatch.setattr(check_battery, "SIDE", SIDE)


def named(battery):
    return {own.probe for own in battery.verdicts.values() if own.verdict == NOT_DELIVERED}


@pytest.mark.parametrize(
    "fault",
    ["none", "no picture", "only the first picture", "order lost", "mirrored", "quarter turn",
     "red and blue exchanged", "edges cropped", "system text dropped", "pictures behind words dropped"],
)  # fmt: skip
def test_a_planted_fault_is_named(small, fault):
    battery = ask_battery(SimulatedModel(Eye(FAULTS[fault].change, lapses=0)), QUESTIONS)
    assert len(battery.said) <= QUESTIONS
    if fault == "none":
        assert {own.verdict for own in battery.verdicts.values()} == {DELIVERED}
    else:
        assert FAULTS[fault].probe in named(battery)
    assert "repeat" not in named(battery)


def test_a_model_that_sees_nothing_is_accused_of_nothing_but_the_picture(small):
    blind = ask_battery(SimulatedModel(Eye(FAULTS["none"].change, lapses=1)), QUESTIONS)
    assert named(blind) == set()
    report = CheckReport("blind", blind)
    assert report.exit_code == NOTHING_TOLD


def test_a_picture_that_takes_no_tokens_is_named(small):
    dropped = ask_battery(SimulatedModel(Eye(FAULTS["no picture"].change, lapses=0)), QUESTIONS)
    assert named(dropped) == {"picture", "tokens"}


def test_models_that_differ_from_call_to_call_are_named(small):
    restless = ask_battery(SimulatedModel(Eye(FAULTS["none"].change, flips=0.5)), QUESTIONS)
    assert "repeat" in named(restless)


def test_a_server_gives_the_verdicts_of_the_same_model_here(small):
    eye = partial(Eye, FAULTS["mirrored"].change, lapses=0.05)
    here = ask_battery(SimulatedModel(eye()), QUESTIONS)
    with serving(eye()) as model:
        report = check_model(model, CheckSettings())
    for name, own in here.verdicts.items():
        other = report.battery.verdicts[name]
        assert (own.verdict, own.test, own.control) == (other.verdict, other.test, other.control), name
    assert report.exit_code == SOMETHING_LOST
    written = page(report)
    assert "http://" not in written.replace("http://127.0.0.1", "")
    assert all(name in written for name in report.battery.verdicts)


def test_two_stacks_get_the_same_questions(small):
    first, second = (SimulatedModel(Eye(FAULTS[own].change, lapses=0)) for own in ("none", "mirrored"))
    one = ask_battery(first, QUESTIONS)
    other = ask_battery(second, QUESTIONS, like=one)
    records = {record["probe"]: record for record in compare(one, other)}
    assert records.keys() == PROBES.keys()
    assert records["left-right"]["same"] == 0
    assert records["left-right"]["difference"] == 1
    assert records["colour"]["same"] == 1
    assert records["colour"]["difference"] == 0
    assert all(record["logprob"] is None for record in records.values())


@pytest.mark.parametrize("name", PROBES)
def test_pairs_differ_in_their_answer_and_in_what_is_sent(name):
    def sent(query):
        return [(turn.role, turn.text, [own.tobytes() for own in turn.pictures]) for turn in query.messages]

    for number in (0, 1, 15):
        for make in (PROBES[name].test, PROBES[name].control):
            first, second = make(EmptyStreet(number, SIDE))
            assert first.gold.answer != second.gold.answer
            assert first.gold.choices == second.gold.choices
            assert first.question == second.question
            assert first.key != second.key
            assert sent(first) != sent(second)
            counts = [[len(turn.pictures) for turn in query.messages] for query in (first, second)]
            assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("fault", "words"),
    [("red and blue exchanged", "red and blue are exchanged"), ("without colour", "they are lost")],
)
def test_exchanged_colours_are_told_from_lost_ones(small, fault, words):
    battery = ask_battery(SimulatedModel(Eye(FAULTS[fault].change, lapses=0)), QUESTIONS)
    assert battery.verdicts["colour"].found == words


def judged(test, control, name="order", choices=2):
    verdict = Verdict(probe=name, about="")
    rows = [
        PairRow((own, own), (other, other), 12, choices) for own, other in zip(test, control, strict=True)
    ]
    judge([verdict], {name: rows})
    return verdict


@given(some.lists(some.booleans(), min_size=1, max_size=16))
@settings(max_examples=60)
def test_as_many_as_of_the_control_are_never_lost(solved):
    assert judged(solved, solved).verdict != NOT_DELIVERED
    assert judged(solved, [False] * len(solved)).verdict != NOT_DELIVERED


def test_what_is_lost_is_told_from_what_is_hard():
    assert judged([False] * MANY, [True] * MANY).verdict == NOT_DELIVERED
    assert judged([True] * LOOKS[0], [True] * LOOKS[0]).verdict == DELIVERED
    assert judged([False] * MANY, [False] * MANY).verdict == CANNOT_TELL


def test_guesses_among_more_answers_are_right_less_often():
    half = [True] * 13 + [False] * 11
    assert judged(half, half).verdict == CANNOT_TELL
    assert judged(half, half, choices=3).verdict == DELIVERED
    assert judged(half, half, "detail", choices=3).verdict == CANNOT_TELL  # many lengths share its level


def test_tests_that_can_show_nothing_cost_the_others_nothing():
    idle, telling = {(4, 0): 1.0}, {(8, 0): 0.001, (7, 0): 0.01, (6, 0): 0.5}
    assert correct([0.001, 1.0, 1.0], [telling, idle, idle]).tolist() == [0.001, 1, 1]
    assert correct([0.01, 0.01], [telling, telling]) == pytest.approx([0.02, 0.02])
    assert correct([0.01, 0.001], [telling, telling]) == pytest.approx([0.01, 0.002])


def rows_of(pixels, test, control):
    return [PairRow((own, own), control and (control == "seen",) * 2, pixels) for own in test]


def test_vehicles_become_smaller_until_they_are_not_seen():
    assert next_length([]) == 12
    assert next_length(rows_of(12, [False] * 2, "not")) == 12  # two pairs may be unlucky
    assert next_length(rows_of(12, [False] * 4, "not")) == 16
    twelve = rows_of(12, [True, True], None)
    assert next_length(twelve) == 6
    assert next_length(twelve + rows_of(6, [False] * 2, None)) == 6  # whether they are seen, the control says
    assert next_length(twelve + rows_of(6, [False] * 2, "seen")) == 4
    assert next_length(twelve + rows_of(6, [False] * 2, "not")) == 8
    assert next_length(twelve + rows_of(6, [False] * 2, "not") + rows_of(8, [False], "not")) == 12


def test_controls_are_asked_in_doubt_alone(small):
    battery = ask_battery(SimulatedModel(Eye(FAULTS["edges cropped"].change, lapses=0)), QUESTIONS)
    asked = {key.partition(":")[0] for key in battery.said}
    assert "inside" in asked
    assert "user-text" not in asked


def test_another_model_is_asked_what_its_own_doubts_need(small):
    sound, cropped = (SimulatedModel(Eye(FAULTS[own].change, lapses=0)) for own in ("none", "edges cropped"))
    first = ask_battery(sound, QUESTIONS)
    other = ask_battery(cropped, QUESTIONS, like=first)
    assert named(other) == {"edges"}
    assert first.said.keys() < other.said.keys()
    assert len(other.said) <= QUESTIONS


@pytest.mark.parametrize("seen", [5.0, 20.0, 60.0])
def test_the_smallest_that_is_seen_lies_in_its_interval(seen):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(100):
        pixels = rng.choice([3, 6, 12, 24, 48, 96], 24)
        chance = 0.5 + 0.47 / (1 + (pixels / seen) ** (-1 / 0.25))
        found = smallest_seen(pixels, rng.random(24) < chance)
        held += found.low <= seen <= found.high
    assert held >= 90


def test_the_command_writes_a_page_and_figures(small, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serving(Eye(FAULTS["none"].change, lapses=0)) as model:
        cli("check", model, "--json", tmp_path / "check.json").succeeds()
    content = json.loads((tmp_path / "check.json").read_text())
    assert content["exit_code"] == ALL_WELL
    (found,) = content["models"].values()
    assert {own["verdict"] for own in found["verdicts"]} == {DELIVERED}
    (written,) = tmp_path.glob("checks/*.html")
    assert all(name in written.read_text() for name in PROBES)


def fails(outcome, *words):
    """One message, exit code 2, and the words in it."""
    (line,) = outcome.messages
    assert outcome.code == 2
    assert [word for word in words if word not in line] == []


@pytest.mark.parametrize("wrong", ["gpt", "runs/town", "people:ann.csv", "openai:localhost"])
def test_what_is_not_a_model_is_one_line(cli, wrong):
    fails(cli("check", wrong), wrong)


def test_a_dead_server_and_one_that_refuses_pictures_are_one_line(small, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fails(cli("check", "openai:http://127.0.0.1:9/v1#m", "--retries", 0), "127.0.0.1:9")
    refusal = chat_server.Raw(b'{"error": "no pictures here"}', 400)
    with chat_server.serving(lambda prompt, picture: "yes" if picture is None else refusal) as server:
        fails(cli("check", server.model), "no pictures here")
    assert not [*tmp_path.iterdir()]


def test_a_server_that_takes_one_picture_is_checked_with_one(small):
    class OnePicture(SimulatedModel):
        def ask(self, queries):
            for query, said in super().ask(queries):
                is_refused = len(query.pictures) > 1
                yield query, Said("", problem="at most 1 image", refused=True) if is_refused else said

    battery = ask_battery(OnePicture(Eye(FAULTS["none"].change, lapses=0)), QUESTIONS)
    unsure = {own.probe for own in battery.verdicts.values() if own.verdict == CANNOT_TELL}
    assert unsure == {"first-picture", "middle-picture", "last-picture", "order"}
    assert "at most 1 image" in battery.verdicts["order"].found


def test_log_probabilities_of_servers_are_compared(small):
    def reply(yes):
        logprobs = [{"token": " Yes", "logprob": np.log(yes)}, {"token": "no", "logprob": np.log(1 - yes)}]
        choice = {"message": {"content": "no"}, "logprobs": {"content": [{"top_logprobs": logprobs}]}}
        return chat_server.Raw(json.dumps({"choices": [choice]}).encode())

    query = PROBES["picture"].test(EmptyStreet(0, SIDE))[0]
    said = []
    for share in (0.2, 0.4):
        with chat_server.serving(lambda *_, share=share: reply(share)) as server:
            ((_, own),) = open_model(server.model, CheckSettings().asking).ask([query])
        said.append(own.scores)
    yes, no = (query.gold.choices.index(answer) for answer in ("yes", "no"))
    assert [np.exp(own[yes] - own[no]) for own in said] == pytest.approx([0.2 / 0.8, 0.4 / 0.6])


def test_the_page_has_the_rows_of_the_benchmark():
    page_text, by_fault = (ROOT / "docs" / "check.md").read_text(), {}
    for row in read_rows(ROOT / "benchmarks" / "results" / "check.csv"):
        share = row["nothing"] if row["fault"] == "none" else row["named"]
        by_fault.setdefault(row["fault"], []).append(f"{float(share):.2f}")
        assert row["served"] == row["served_alike"]
    for fault, shares in by_fault.items():
        assert f"| {fault} | {' | '.join([*shares, '', ''][:3])} |" in page_text

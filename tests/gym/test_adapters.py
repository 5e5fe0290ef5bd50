"""The gym's tasks in training libraries: each adapter is run by the library itself, where it is installed."""

import asyncio
import json
import sys
from base64 import b64decode
from io import BytesIO
from itertools import islice
from unittest.mock import MagicMock

import numpy as np
import pytest
from PIL import Image

from simtown.gym import Street

LEVEL, SEED = 2, 3
WRONG = ("", "I think so, or not.", "<think>yes", "Answer: 17 elephants")


@pytest.fixture(scope="module")
def tasks():
    return Street(LEVEL, SEED)


def replies(task):
    """(text, score) of a right reply, and of wrong ones."""
    yield f"I see a street.\n**Answer: {task.answer}**", 1
    yield from (
        (text, 0) for text in (*WRONG, *(other for other in task.gold.choices if other != task.answer))
    )


def picture_of(message):
    """The picture in a message: one of a user, whose content is a list of parts."""
    assert message["role"] == "user"
    url = next(part["image_url"] for part in message["content"] if "image_url" in part)
    return np.array(Image.open(BytesIO(b64decode(url["url"].partition(",")[2]))))


def index_alone(task):
    return {"index": task.metadata["index"]}


@pytest.fixture
def drawn(monkeypatch):
    """The numbers of the tasks drawn in this process."""
    numbers, draw = [], Street._draw
    monkeypatch.setattr(Street, "_draw", lambda self, rows: numbers.extend(rows["task"]) or draw(self, rows))
    return numbers


@pytest.fixture(params=["torch", "datasets"])
def stream_of(request):
    """Makes a stream of a library; `more` is for that of datasets."""
    pytest.importorskip("torch")
    pytest.importorskip(request.param)
    if request.param == "torch":
        from simtown.gym.adapters.torch import TaskStream

        return lambda tasks, start=0, **more: TaskStream(tasks, start)
    from simtown.gym.adapters.datasets import task_dataset

    return task_dataset


@pytest.mark.parametrize("workers", [1, 2])
def test_no_rank_and_no_worker_share_a_task_and_a_start_leaves_none_out(stream_of, workers, tasks):
    from torch.utils.data import DataLoader

    def numbers(rank, start, batches):
        stream = stream_of(tasks.shard(rank, 2), start, workers=workers, row=index_alone)
        loader = DataLoader(stream, batch_size=2, num_workers=workers if workers > 1 else 0)
        return [int(number) for batch in islice(loader, batches) for number in batch["index"]]

    first, second = numbers(0, 0, workers), numbers(1, 0, workers)
    assert sorted(first) == list(range(0, 4 * workers, 2))
    assert sorted(second) == list(range(1, 4 * workers, 2))
    assert numbers(0, 2 * workers, workers) == numbers(0, 0, 2 * workers)[2 * workers :]


def test_a_stream_resumes_by_position_and_does_not_draw_what_it_skips(stream_of, tasks, drawn):
    first = stream_of(Street(LEVEL, SEED))
    rows = list(islice(first, 130))
    state = json.loads(json.dumps(first.state_dict()))
    drawn.clear()
    again = stream_of(Street(LEVEL, SEED))
    again.load_state_dict(state)
    row = next(iter(again))
    assert row["question"] == tasks[130].prompt != rows[-1]["question"]
    assert (np.asarray(row["picture"] if "picture" in row else row["image"]) == tasks[130].picture).all()
    assert min(drawn) >= 128


def test_reasoning_gym_makes_scores_and_mixes_the_tasks(tasks):
    reasoning_gym = pytest.importorskip("reasoning_gym")
    from reasoning_gym.composite import DatasetSpec
    from reasoning_gym.factory import create_curriculum

    from simtown.gym.adapters import reasoning_gym as adapter

    data = reasoning_gym.create_dataset(adapter.NAME, level=LEVEL, seed=SEED, size=5)
    assert len(list(data)) == len(data) == 5
    for task, entry in zip(tasks, json.loads(json.dumps(list(data))), strict=False):
        assert (entry["question"], entry["answer"]) == (task.prompt, task.answer)
        assert (picture_of(entry["messages"][0]) == task.picture).all()
        for text, score in replies(task):
            assert data.score_answer(text, entry) == score
        assert data.score_answer(None, entry) == 0
    specs = [
        DatasetSpec(adapter.NAME, 1, {"level": LEVEL, "seed": SEED}),
        DatasetSpec("leg_counting", 1, {}),
    ]
    mixed = reasoning_gym.create_dataset("composite", size=12, seed=1, datasets=specs)
    ours = [entry for entry in mixed if entry["metadata"]["source_dataset"] == adapter.NAME]
    assert 0 < len(ours) < 12
    assert all(mixed.score_answer(entry["answer"], entry) == 1 for entry in mixed)
    curriculum = create_curriculum(adapter.NAME)
    curriculum.increment_attr_level("level")
    assert curriculum.generate_configuration({"size": 3}).level == 2
    with pytest.raises(AssertionError, match="level is 10"):
        reasoning_gym.create_dataset(adapter.NAME, level=10)


def test_verifiers_loads_the_taskset_by_name_and_scores_traces(tasks, monkeypatch):
    vf = pytest.importorskip("verifiers.v1")
    from simtown.gym.adapters import simtown_street
    from simtown.gym.adapters.verifiers import StreetTask

    monkeypatch.setitem(sys.modules, "simtown_street", simtown_street)  # where a wheel installs it
    config = vf.taskset_config_type("simtown-street")(id="simtown-street", level=LEVEL, seed=SEED, start=2)
    taskset = vf.load_taskset(config)
    assert not taskset.bounded
    for number, own in enumerate(taskset.take(3), 2):
        task = tasks[number]
        wire = type(own.data).model_validate_json(own.data.model_dump_json())
        assert own.key == f"{LEVEL}/{SEED}/{number}"
        assert wire == own.data
        (message,) = wire.model_dump()["prompt"]
        assert (picture_of(message) == task.picture).all()
        for text, score in replies(task):
            about = vf.TraceTask(type=type(own).__name__, data=wire)
            trace = vf.Trace(task=about, agent=vf.AgentInfo(config=vf.AgentConfig()), root_reply=text)
            asyncio.run(StreetTask(wire).score(trace))
            assert trace.reward == score
            assert trace.metrics["unread"] == (text in WRONG)


def test_a_taskset_follows_its_curriculum_by_first_replies():
    vf = pytest.importorskip("verifiers.v1")
    from simtown.gym.adapters.verifiers import StreetTaskset, StreetTasksetConfig

    taskset = StreetTaskset(StreetTasksetConfig(curriculum=True, seed=SEED, rank=1, ranks=2))
    found = []
    for own in taskset.take(40):
        found.append((own.data.metadata["level"], own.data.metadata["index"]))
        for reply in (own.data.gold["answer"], "no idea", "no idea"):
            about = vf.TraceTask(type=type(own).__name__, data=own.data)
            trace = vf.Trace(task=about, agent=vf.AgentInfo(config=vf.AgentConfig()), root_reply=reply)
            asyncio.run(own.score(trace))
    assert {*found} == {(level, index) for level, index in found if index % 2}
    assert len({*found}) == len(found)
    assert [level for level, _ in found] == sorted(level for level, _ in found)
    assert taskset.curriculum.levels["all"] > 1


def test_prompts_of_a_curriculum_follow_the_replies_of_all_ranks(monkeypatch):
    pytest.importorskip("trl")
    from simtown.gym.adapters import trl
    from simtown.gym.curriculum import Curriculum

    parts, gathered = [], []
    monkeypatch.setattr(trl, "gather_object", lambda own: [*gathered] or parts.append(own) or [])
    ranks = [Curriculum(seed=SEED) for _ in range(2)]
    streams = [iter(trl.prompts(curriculum)) for curriculum in ranks]
    for _ in range(12):
        rows, other = (list(islice(stream, 4)) for stream in streams)
        assert [row["metadata"] for row in rows] == [row["metadata"] for row in other]
        repeated = [row for row in rows for _ in range(2)]
        parts.clear()
        gathered.clear()
        for half in (repeated[:3], repeated[3:]):  # TRL gives each rank a part of the same stream
            columns = {name: [row[name] for row in half] for name in ("gold", "metadata")}
            replies = [row["gold"]["answer"] for row in half]
            assert trl.recorded(Curriculum(), trl.graded_reply)(replies, **columns) == [1.0] * len(half)
        gathered += [pair for part in parts for pair in part]
        for curriculum in ranks:
            trl.recorded(curriculum)([], gold=[], metadata=[])
    assert ranks[0].state == ranks[1].state
    assert ranks[0].levels["all"] > 1


@pytest.mark.parametrize("skipped", [0, 3])
def test_streams_give_the_tasks_that_are_kept(stream_of, skipped):
    def even(task):
        return task.metadata["index"] % 2 == 0

    stream = stream_of(Street(LEVEL, SEED, even), skipped, row=index_alone)
    numbers = [int(row["index"]) for row in islice(stream, 4)]
    assert numbers == [index for index in range(skipped, 12) if index % 2 == 0][:4]
    again = stream_of(Street(LEVEL, SEED, even), skipped, row=index_alone)
    again.load_state_dict(json.loads(json.dumps(stream.state_dict())))
    assert int(next(iter(again))["index"]) == numbers[-1] + 2


def test_nemo_gym_serves_the_verifier_for_rows_that_hold_their_picture(tasks, tmp_path):
    pytest.importorskip("nemo_gym", reason="nemo-gym is not installed: it wants Python 3.12 and 140 packages")
    from fastapi.testclient import TestClient
    from nemo_gym.base_resources_server import BaseResourcesServerConfig
    from nemo_gym.config_types import ResourcesServerTypeConfig, ResponsesAPIAgentServerTypeConfig
    from nemo_gym.server_utils import ServerClient
    from yaml import safe_load

    from simtown.gym.adapters.nemo_gym import StreetServer, write_server

    write_server(tmp_path / "town", tasks, 3)
    config = safe_load((tmp_path / "town" / "configs" / "town.yaml").read_text())
    ResourcesServerTypeConfig.model_validate(config["town"])
    ResponsesAPIAgentServerTypeConfig.model_validate(config["town_simple_agent"])
    settings = BaseResourcesServerConfig(host="127.0.0.1", port=8080, entrypoint="app.py", name="town")
    server = StreetServer(config=settings, server_client=MagicMock(spec=ServerClient))
    rows = [json.loads(line) for line in (tmp_path / "town" / "data" / "train.jsonl").open()]
    assert len(rows) == 3
    with TestClient(server.setup_webserver()) as client:
        for task, row in zip(tasks, rows, strict=False):
            (message,) = row["responses_create_params"]["input"]
            picture, text = message["content"]
            assert text["text"] == task.prompt
            own = {**message, "content": [{"image_url": {"url": picture["image_url"]}}]}
            assert (picture_of(own) == task.picture).all()
            assert client.post("/seed_session", json=row).status_code == 200
            for said, score in replies(task):
                part = {"type": "output_text", "text": said, "annotations": []}
                output = [{"id": "m", "type": "message", "role": "assistant", "status": "completed"}]
                output[0]["content"] = [part]
                response = {"id": "r", "created_at": 0, "model": "m", "object": "response", "output": output}
                response |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
                scored = client.post("/verify", json={**row, "response": response}).json()
                assert (scored["reward"], scored["unread"]) == (score, said in WRONG)


@pytest.mark.slow
def test_a_step_of_grpo_makes_the_right_reply_likelier(tmp_path, drawn):
    torch = pytest.importorskip("torch")
    trl = pytest.importorskip("trl")
    from simtown.gym.adapters.trl import prompts, right_reply
    from tests.vlm.tiny_models import llava

    torch.manual_seed(1)
    model, processor = llava()
    yes, no = (processor.tokenizer.encode(f" {word}")[0] for word in ("yes", "no"))
    others = [i for i in range(len(processor.tokenizer)) if i not in (yes, no)]
    (row,) = islice(prompts(Street(LEVEL, SEED)), 1)
    assert [part["type"] for part in row["prompt"][0]["content"]] == ["image", "text"]
    assert row["gold"]["answer"] in ("yes", "no")

    def chance():
        """Of the right reply, against the wrong one."""
        text = processor.apply_chat_template(row["prompt"], add_generation_prompt=True)
        asked = processor(images=row["image"], text=text, return_tensors="pt")
        with torch.no_grad():
            scores = model.eval()(**asked).logits[0, -1, [yes, no]].softmax(0)
        return float(scores[0 if row["gold"]["answer"] == "yes" else 1])

    groups, before = [], chance()

    def scored(completions, image, **columns):
        groups.append(image)
        return right_reply(completions, **columns)

    drawn.clear()
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=processor,
        reward_funcs=scored,
        train_dataset=prompts(Street(LEVEL, SEED)),
        args=trl.GRPOConfig(
            output_dir=str(tmp_path),
            max_steps=1,
            per_device_train_batch_size=8,
            num_generations=8,
            max_completion_length=1,
            generation_kwargs={"suppress_tokens": others},
            shuffle_dataset=False,
            learning_rate=1e-2,
            use_cpu=True,
            bf16=False,
            report_to=[],
            save_strategy="no",
        ),
    )
    trainer.train()
    assert 0 < trainer.state.log_history[0]["reward"] < 1
    assert chance() > before
    ((*images,),) = groups
    assert len(images) == 8
    assert len({image.tobytes() for image in images}) == 1
    assert len(drawn) <= 2 * 64, "pictures are made when they are used"

"""The cost of an evaluation beforehand: requests, tokens of the pictures, time at the rate of probes."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from io import BytesIO
from math import ceil
from pathlib import Path
from time import monotonic

import msgspec

from simtown.core.amounts import counted, duration
from simtown.core.runs import require_same_settings
from simtown.core.untrusted import read_bytes
from simtown.vlm.evaluation_plan import Evaluation
from simtown.vlm.vision_model import Query, normalise
from simtown.vlm.vlm_run import ANSWERS_FILE, RECORD, costs, deciding, read_answers

#: Most questions that are asked.
PROBES = 10


def openai_tiles(width: float, height: float) -> int:
    """85 and 170 for each tile of 512 pixels, at high detail: within 2,048 and a short side of 768."""
    within = min(1, 2048 / max(width, height), 768 / min(width, height))
    return 85 + 170 * _tiles(width * within, height * within, 512)


def anthropic_area(width: float, height: float) -> int:
    """1 for 750 pixels; the long side within 1,568, and at most 1,600."""
    within = min(1, 1568 / max(width, height))
    return min(1600, ceil(width * height * within**2 / 750))


def gemini_tiles(width: float, height: float) -> int:
    """258 for each tile of 768 pixels."""
    return 258 * _tiles(width, height, 768)


def qwen_patches(width: float, height: float) -> int:
    """1 for each patch of 28 pixels, to which sides are rounded; at least 4."""
    return max(4, round(width / 28) * round(height / 28))


#: Functions of a width and a height that give the tokens of a picture, as providers publish them.
RULES: dict[str, Callable[[float, float], int]] = {
    "OpenAI": openai_tiles,
    "Anthropic": anthropic_area,
    "Gemini": gemini_tiles,
    "Qwen2-VL": qwen_patches,
}


def estimate(evaluation: Evaluation, out: Path) -> Iterator[str]:
    """Say what the questions that lack an answer will cost; ask up to ten of them, and keep nothing.

    Args:
        evaluation: the model, and what it is to be asked.
        out: the directory of results, which may hold answers.

    Yields:
        Lines: requests and pictures, their tokens by each of RULES; by the probes, time, tokens and dollars.

    Raises:
        UnreachableError: the model did not answer a probe.
        ForeignDirectoryError: the directory holds results with other settings or data.
        DamagedError: the record, or a line of answers.jsonl, is damaged.
        RefusedError: answers.jsonl is a link, or not a regular file.
    """
    settings, model = evaluation.prompting.settings, evaluation.model
    # whole rounds of what is asked at once, or the last round would be taken for slow
    most = PROBES // model.batch * model.batch or PROBES
    luck, count, probes = random.Random(0), 0, list[Query]()
    sizes: Counter[tuple[int, ...]] = Counter()
    for count, query in enumerate(evaluation.missing(_answered(evaluation, out)), 1):
        place = luck.randrange(count)  # so that all queries are probes with one probability
        if len(probes) < most:
            probes.append(query)
        elif place < most:
            probes[place] = query
        sizes.update(picture.shape[:2] for turn in query.messages for picture in turn.pictures)
    listed = ", ".join(f"{number:,} of {width} × {height}" for (height, width), number in sizes.items())
    yield f"{counted(count, 'request')} to send; pictures: {listed or 'none'}."
    for name, rule in RULES.items() if sizes else ():
        tokens = sum(rule(width, height) * number for (height, width), number in sizes.items())
        yield f"Tokens of the pictures, {name}: {tokens:,}."
    if not probes:
        return
    begun = monotonic()
    rows = [msgspec.structs.asdict(normalise(said, query)) for query, said in model.ask(probes)]
    seconds = monotonic() - begun
    pause = 60 / settings.rate if settings.rate else 0.0
    whole = duration(max(seconds / len(rows), pause) * count)
    yield f"{counted(len(rows), 'probe')} took {seconds:.1f} s: all take about {whole}."
    spent = {name: value / len(rows) * count for name, value in costs(rows, settings.price).items()}
    if spent["read"]:
        dollars = f", ${spent['cost']:,.4f}" if settings.price else ""
        yield f"Tokens by the probes: {spent['read']:,.0f} read, {spent['written']:,.0f} written{dollars}."


def _answered(evaluation: Evaluation, out: Path) -> set[str]:
    """The keys of the queries that a directory holds answers to."""
    path = out / ANSWERS_FILE
    if not path.is_file():
        return set()
    require_same_settings(out, deciding(RECORD.load(out)), deciding({"settings": evaluation.record}))
    return {*read_answers(path, BytesIO(read_bytes(path, follow=False)))}


def _tiles(width: float, height: float, side: int) -> int:
    return ceil(width / side) * ceil(height / side)

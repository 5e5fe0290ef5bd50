"""Captions of a whole split, block by block, so that memory does not grow with the split."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from simtown.core.files import replacing
from simtown.core.pool import Pool, Processes, Report, ignore
from simtown.datasets.reading.reader import SCENE_COLUMNS, Dataset, runs
from simtown.language.meaning.colours import colour_sums, named, seen
from simtown.language.words.captions import captions
from simtown.scenes.scene import SceneBatch

#: Scenes that are worded at once.
_ROWS = 4_096
#: Scenes of a block, which one worker words: their text has 10 MB.
BLOCK = 65_536
#: A block of a split: the split's name, its first row, and the row after its last one.
Block = tuple[str, int, int]


def write_captions(path: Path, blocks: Iterable[tuple[int, bytes]]) -> tuple[int, str]:
    """Write :func:`caption_blocks`, whole or not at all; returns the number of captions, and one of them."""
    count, example = 0, ""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        for lines, text in blocks:
            example = example or text.split(b"\n", 2)[1].decode()
            count += lines
            file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return count, example


def caption_blocks(
    dataset: Dataset,
    name: str,
    bias: float = 0.0,
    pool: Pool | None = None,
    progress: Report = ignore,
    every: bool = False,
) -> Iterator[tuple[int, bytes]]:
    """The captions of a split, block by block: their number, and their text in UTF-8, a line each.

    With a reporting bias, scenes are read twice, first for each kind's typical colour. `pool` does the work,
    by default this process. `progress` is called with the number of scenes read since the last call,
    :func:`scenes_to_read` in all. With `every` they name every colour that is seen.

    Raises DamagedError if a shard cannot be read.
    """
    pool, typical = pool or Processes(), None
    blocks = [(name, begin, end) for begin, end in runs(len(dataset[name]), BLOCK)]
    if bias:
        with closing(pool.map(_add_colours, blocks, (dataset, every), progress)) as results:
            typical = np.sum([sums for _, sums in results], axis=0).argmax(axis=1)
    early: dict[Block, tuple[int, bytes]] = {}
    remaining = iter(blocks)
    wanted = next(remaining, None)
    with closing(pool.map(_caption_block, blocks, (dataset, bias, typical, every), progress)) as results:
        for block, result in results:
            early[block] = result
            while wanted in early:
                yield early.pop(wanted)
                wanted = next(remaining, None)


def scenes_to_read(dataset: Dataset, name: str, bias: float) -> int:
    """The number of scenes that :func:`caption_blocks` reads."""
    return len(dataset[name]) * (2 if bias else 1)


def _scenes(dataset: Dataset, block: Block, report: Report) -> Iterator[tuple[int, SceneBatch]]:
    """The scenes of a block, some at a time, with the number of the first one."""
    name, begin, end = block
    split = dataset[name]
    for start, columns in split.stream(SCENE_COLUMNS, _ROWS, begin=begin, end=end):
        scenes = split.scenes_of(columns)
        yield start, scenes
        report(len(scenes))


def _add_colours(block: Block, report: Report, dataset: Dataset, every: bool) -> np.ndarray:
    """A piece of work: (entities, c) int64 of :func:`simtown.language.meaning.colours.colour_sums`."""
    shares = seen if every else named
    parts = [colour_sums(scenes.entity, shares(scenes)) for _, scenes in _scenes(dataset, block, report)]
    return np.asarray(np.sum(parts, axis=0))


def _caption_block(
    block: Block, report: Report, dataset: Dataset, bias: float, typical: np.ndarray | None, every: bool
) -> tuple[int, bytes]:
    """A piece of work: the number of captions, and their text."""
    lines: list[str] = []
    for start, scenes in _scenes(dataset, block, report):
        lines += captions(
            scenes, dataset.settings.seed, block[0], bias=bias, start=start, typical=typical, every=every
        )
    return len(lines), "".join(f"{line}\n" for line in lines).encode()

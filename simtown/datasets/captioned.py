"""Captions of a whole split, block by block.

Memory does not grow with the split, and the text does not depend on the number of workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from simtown.core.files import replacing
from simtown.core.pool import Pool, Processes, Report, ignore
from simtown.datasets.reader import SCENE_COLUMNS, Dataset, Handle
from simtown.language.captions import captions, check_bias
from simtown.language.colours import colour_sums, seen
from simtown.scenes.scene import SceneBatch

#: Scenes that are worded at once.
_ROWS = 4_096
#: Scenes of a block, which one worker words: their text has 10 MB.
BLOCK = 65_536
#: Bytes that two captions have at most.
_LONGEST = 2_000
#: A block of a split: the split's name, its first row, and the row after its last one.
Block = tuple[str, int, int]


def write_captions(
    path: Path,
    dataset: Dataset,
    name: str,
    bias: float = 0.0,
    pool: Pool | None = None,
    progress: Report = ignore,
) -> tuple[int, str]:
    """Write the captions of a split (:func:`simtown.language.captions.captions`), a line each.

    Args:
        path: of the file, which is written whole or not at all.
        dataset: the data set.
        name: of the split.
        bias: see :func:`caption_blocks`.
        pool: see :func:`caption_blocks`.
        progress: see :func:`caption_blocks`.

    Returns:
        The number of captions, and one of them.

    Raises:
        ValueError: `bias` is not in [0, 1].
        DamagedError: a shard cannot be read.
        OSError: the file cannot be written.
    """
    count, example = 0, ""
    with replacing(path) as temporary, open(temporary, "wb") as file:
        for lines, text in caption_blocks(dataset, name, bias, pool, progress):
            example = example or text[:_LONGEST].decode(errors="ignore").split("\n")[1]
            count += lines
            file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return count, example


def caption_blocks(
    dataset: Dataset, name: str, bias: float = 0.0, pool: Pool | None = None, progress: Report = ignore
) -> Iterator[tuple[int, bytes]]:
    """The captions of a split, block by block: their number, and their text in UTF-8, a line each.

    Args:
        dataset: the data set.
        name: of the split.
        bias: reporting bias; unless it is 0, scenes are read twice, first for each kind's typical colour.
        pool: does the work; by default this process.
        progress: called with the number of scenes read since the last call, :func:`scenes_to_read` in all.

    Raises:
        ValueError: `bias` is not in [0, 1].
        DamagedError: a shard cannot be read.
    """
    check_bias(bias)
    pool = pool or Processes()
    blocks = [(name, begin, end) for begin, end in dataset[name].parts(BLOCK)]
    typical = _typical_colours(dataset, blocks, pool, progress) if bias else None
    early: dict[Block, tuple[int, bytes]] = {}
    following = iter(blocks)
    wanted = next(following, None)
    with closing(pool.map(_caption_block, blocks, (Handle(dataset), bias, typical), progress)) as results:
        for block, result in results:
            early[block] = result
            while wanted in early:
                yield early.pop(wanted)
                wanted = next(following, None)


def scenes_to_read(dataset: Dataset, name: str, bias: float) -> int:
    """The number of scenes that :func:`caption_blocks` reads."""
    return len(dataset[name]) * (2 if bias else 1)


def _typical_colours(dataset: Dataset, blocks: list[Block], pool: Pool, progress: Report) -> np.ndarray:
    """(entities,) int64: the commonest colour of each kind in these blocks."""
    with closing(pool.map(_add_colours, blocks, (Handle(dataset),), progress)) as results:
        typical: np.ndarray = np.sum([sums for _, sums in results], axis=0).argmax(axis=1)
    return typical


def _scenes(dataset: Dataset, block: Block) -> Iterator[tuple[int, SceneBatch]]:
    """The scenes of a block, some at a time, with the number of the first one."""
    name, begin, end = block
    split = dataset[name]
    for start, columns in split.stream(SCENE_COLUMNS, _ROWS, begin=begin, end=end):
        yield start, split.scenes_of(columns)


def _add_colours(block: Block, report: Report, handle: Handle) -> np.ndarray:
    """A piece of work: (entities, c) int64 of :func:`simtown.language.colours.colour_sums`."""
    sums = []
    for _, scenes in _scenes(handle.open(), block):
        sums.append(colour_sums(scenes.entity, seen(scenes)))
        report(len(scenes))
    total: np.ndarray = np.sum(sums, axis=0)
    return total


def _caption_block(
    block: Block, report: Report, handle: Handle, bias: float, typical: np.ndarray | None
) -> tuple[int, bytes]:
    """A piece of work: the number of captions, and their text."""
    count, text, seed = 0, bytearray(), handle.open().settings.seed
    for start, scenes in _scenes(handle.open(), block):
        lines = list(captions(scenes, seed, block[0], bias, start, typical))
        count += len(lines)
        text += "".join(f"{line}\n" for line in lines).encode()
        report(len(scenes))
    return count, bytes(text)

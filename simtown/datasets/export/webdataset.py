"""WebDataset: tar files of samples, SPLIT-000000.tar and so on.

The files of a sample share a key and have different suffixes.
"""

import io
import json
import tarfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from simtown.datasets.export.portion import Format, Portion
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.source import source_of
from simtown.render.masks import picture_file

#: Samples a tar file.
SAMPLES = 1_000


def write(portion: Portion, directory: Path) -> None:
    """Samples of KEY.png, KEY.json (the example in words), maybe KEY.mask.png, and KEY.cls: 0 no, 1 yes; with
    questions of families a line of answers.txt, from 0 on.
    """
    answer = source_of(portion.data.settings).answer_column
    with ExitStack() as stack:
        for batch in portion.batches():
            for row, number in batch.numbers():
                if number % SAMPLES == 0:
                    stack.close()
                    path = directory / f"{portion.name}-{number // SAMPLES:06d}.tar"
                    tar = stack.enter_context(tarfile.open(path, "w", format=tarfile.USTAR_FORMAT))
                key = f"{portion.name}{number:09d}"
                _add(tar, f"{key}.png", batch.png(row))
                _add(tar, f"{key}.json", json.dumps(batch.record(row, number)).encode())
                _add(tar, f"{key}.cls", str(int(batch.columns[answer][row])).encode())
                if batch.ids is not None:
                    _add(tar, f"{key}.mask.png", picture_file(batch.ids[row]))


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    """A file without an owner or a time, so that the bytes are the same whenever it is written."""
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def finish(data: Dataset, splits: Sequence[str], directory: Path) -> None:
    """answers.txt, a line an answer, if other questions than the paper's are asked."""
    if "answers" in data.names:
        text = "".join(f"{answer}\n" for answer in data.names["answers"])
        (directory / "answers.txt").write_text(text, encoding="utf-8")


FORMAT = Format(write, finish, multiple=SAMPLES)

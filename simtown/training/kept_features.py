"""Features of a frozen encoder, kept on the disk for all runs that see the same pictures.

A file holds the features of a block of pictures of one shard, and its name says of which: digest of the
encoder, digest of the shard, first row. It is whole or absent, so runs may share the folder at any time.
"""

from io import BytesIO

import numpy as np
import torch

from simtown.core.callbacks import ProgressCallback
from simtown.core.files import cache_home, save_bytes
from simtown.datasets.making.shards import tasks
from simtown.datasets.reading.reader import Dataset
from simtown.training.encoder import FrozenEncoder

#: To be raised when the same pictures get other features.
VERSION = 1
#: Pictures of a file.
BLOCK = 256


def features_of(
    dataset: Dataset,
    split: str,
    n: int,
    encoder: FrozenEncoder,
    device: torch.device,
    callback: ProgressCallback,
) -> list[np.ndarray]:
    """Blocks of (pictures, places, channels) float16 features of a split's first n examples, in order.

    They are mapped from files, and made where there are none. `callback` receives how far that is.
    """
    folder = cache_home() / "features" / f"{encoder.digest}-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    callback.on_begin(n, stage=f"features of {split} pictures, kept in {folder}")
    blocks = []
    for task in (task for task in tasks(dataset.settings) if task.split == split):
        shard = dataset.manifest["shards"][task.name]["sha256"]
        for first in range(0, min(task.count, n - task.start), BLOCK):
            rows = np.arange(task.start + first, task.start + min(first + BLOCK, task.count))
            path = folder / f"{shard}-{first}.npy"
            if not path.exists():
                pixels = torch.from_numpy(dataset[split].images(rows)).to(device)
                file = BytesIO()
                np.save(file, encoder.encode(pixels).cpu().numpy())
                save_bytes(path, file.getvalue())
            blocks.append(np.load(path, mmap_mode="r"))
            callback.on_progress(len(rows))
    return blocks

"""Finding one stored example by its address on a command line."""

from pathlib import Path

from simtown.datasets.addresses import name_of, parse_address, require_index
from simtown.datasets.making.manifests import NAME, load
from simtown.datasets.reading.reader import Split, open_dataset
from simtown.datasets.reading.shard_file import form_of, reading


def find(where: str) -> tuple[Split, int, str]:
    """The example at "SHARD:INDEX" or "DIR/SPLIT:INDEX"; DIR may be a URL.

    Returns:
        Its split, or its shard alone as one; its row there; and a name for its picture.

    Raises:
        ValueError: the words do not name an example, or the index is out of range.
        FileNotFoundError, DamagedError: nothing readable.
    """
    place, name, index = parse_address(where)
    if name is not None:
        split, path = open_dataset(place)[name], Path(place, name)
    else:
        path = Path(place)
        shard = path.resolve()
        with reading(shard, "run simtown verify on its data set"):
            arrays, count = form_of(shard)
        split = Split([shard], [count], arrays, names=_names_beside(shard) if "family" in arrays else None)
    require_index(path, index, len(split))
    dataset = name_of(place if name is not None else path.parent)
    return split, index, "-".join(filter(None, (dataset, path.stem, str(index))))


def _names_beside(shard: Path) -> dict[str, list[str]]:
    """The names of the data set that a shard lies in. Raises FileNotFoundError or DamagedError."""
    folder = next((folder for folder in shard.parents[:3] if (folder / NAME).is_file()), shard.parent)
    return dict(load(folder)["names"])

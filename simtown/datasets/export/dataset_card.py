"""The dataset card of a Parquet export: what each column is, as Hugging Face's YAML header and in words."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simtown.assets.palette import PAINTS
from simtown.core.untrusted import markdown
from simtown.datasets.export.yaml import yaml
from simtown.datasets.making.ready_worlds import LICENCE, cited
from simtown.datasets.making.shards import layout
from simtown.datasets.names import names
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.settings import CROWD, Settings

#: Examples of a split that the card of a ready world has a digest of.
FIRST = 4
#: What the columns are, in words.
MEANING: dict[str, str] = {
    "image": "the picture",
    "mask": "instance ids: 0 sky and ground, 1 + i vehicle i, then street furniture",
    "index": "number in its split",
    "question": "what is asked",
    "answer": "the truth, from the scene's geometry",
    "subject": "the entity the question is about",
    "relation": "the relation asked about",
    "object": "the entity it is compared with",
    "subject_slot": "which of `vehicles` the subject is",
    "object_slot": "which of `vehicles` the object is",
    "family": "the family of the question",
    "program": "the question as a program",
    "group": "twins: examples of one group are about the same two pictures",
    "edit": "what makes one of the two pictures of the other",
    "number": "metres, if a distance is asked for, else nan",
    "tolerance": "metres by which an answer about a distance may be off",
    "answer_box": "the box that is asked for, if one is, as in `vehicles`",
    "margin": "metres by which the relation holds, negative where it does not; of a question of a family, "
    "metres by which the least clear relation that decides holds or fails, nan if none decides",
    "weather": "the weather",
    "intensity": "its strength, 0 to 1",
    "vehicles": "each vehicle: entity, paint of its body, box (x0, y0, x1, y1 in pixels, hidden parts "
    "included), x and y (metres; x to the viewer's right, y away from the viewer), yaw (radians, "
    "counter-clockwise from above), share that no other vehicle hides",
}


def split_name(split: str) -> str:
    """A split's name as Hugging Face allows it: test_composition. No other split's files begin so."""
    return split.replace("-", "_")


def features(settings: Settings) -> dict[str, Any]:
    """Columns by name: a dtype, "image", "box", a tuple of class names, or a dict for a list of records."""
    named = names(settings)
    entities = tuple(named["entities"])
    measures = dict.fromkeys(("x", "y", "yaw", "visible"), "float32")
    about: dict[str, Any] = {
        "answer": ("no", "yes"),
        "subject": entities,
        "relation": tuple(named["relations"]),
        "object": entities,
        "subject_slot": "int64",
        "object_slot": "int64",
    }
    if settings.has_families:
        about = {"answer": tuple(named["answers"]), "family": tuple(named["families"]), "program": "string"}
        about |= {"number": "float32", "tolerance": "float32", "answer_box": "box"}
        about |= {"group": "int64", "edit": "string"} if "group" in layout(settings) else {}
    return {
        "image": "image",
        **({"mask": "image"} if settings.masks else {}),
        "index": "int64",
        "question": "string",
        **about,
        "margin": "float32",
        "weather": tuple(named["weathers"]),
        "intensity": "float32",
        "vehicles": {"entity": entities, "paint": PAINTS, "box": "box", **measures},
    }


def description(data: Dataset) -> str:
    """The data set in two sentences."""
    s = data.settings
    asked, scene = "Yes/no questions about where vehicles stand", str(s.vehicles)
    if s.has_families:
        asked, scene = f"Questions of {len(data.names['families'])} families about vehicles", s.crowd or CROWD
    return (
        f"{asked} on a cartoon 3D street, with pictures of {s.width} x {s.height} pixels. "
        f"The town has {s.entities} kinds of vehicles, {scene} in every scene, with "
        f"frequencies {s.frequencies}; made by simtown {data.manifest['simtown']} with {s.seeds}."
    )


def card(data: Dataset, splits: Sequence[str], directory: Path) -> str:
    """README.md of an export that lies in `directory`."""
    paths = {split: list((directory / "data").glob(f"{split_name(split)}-*.parquet")) for split in splits}
    counts, columns = {split: len(data[split]) for split in splits}, features(data.settings)
    named = [split_name(split) for split in splits]
    data_files = [{"split": name, "path": f"data/{name}-*.parquet"} for name in named]
    sizes = {split: sum(path.stat().st_size for path in files) for split, files in paths.items()}
    listed = [
        {"name": name, "num_bytes": sizes[split], "num_examples": counts[split]}
        for name, split in zip(named, splits, strict=True)
    ]
    world = cited(data.settings)
    header = {
        "pretty_name": world or f"simtown, {data.settings.entities} entities",
        **({"license": LICENCE.lower()} if world else {}),
        "language": ["en"],
        "task_categories": ["visual-question-answering"],
        "tags": ["simtown", "synthetic", "spatial-relations"],
        "size_categories": [_size(sum(counts.values()))],
        "configs": [{"config_name": "default", "data_files": data_files}],
        "dataset_info": {
            "features": [{"name": name, **_feature(feature)} for name, feature in columns.items()],
            "splits": listed,
            "download_size": sum(sizes.values()),
            "dataset_size": sum(sizes.values()),
        },
    }
    rows = "".join(f"| `{name}` | {MEANING[name]} |\n" for name in columns)
    examples = ", ".join(f"{count:,} {split}" for split, count in counts.items())
    cite = f"\n{_identity(data, splits, world)}" if world else ""
    fair = "In every split half the answers are yes."
    if data.settings.has_families:
        fair = "In each family all answers are as frequent, whatever the words."
    return f"""---
{yaml(header)}---

# {header["pretty_name"]}

{markdown(description(data))} Examples: {examples}. {fair}

```python
from datasets import load_dataset

data = load_dataset("DIRECTORY")  # where this file lies, or its name on the Hub
data["{named[0]}"][0]["image"]
```

From this directory, `hf upload USER/NAME . . --repo-type dataset` puts it on the Hub.

| column | what |
| --- | --- |
{rows}
`train` and `val` follow the frequencies above, `test` draws every entity alike.
{cite}"""


def _identity(data: Dataset, splits: Sequence[str], world: str) -> str:
    """The name of a ready world, and what its first examples must be wherever it is made."""
    s = data.settings
    name = world.split(",")[0]
    rows = ""
    for split in splits:
        count = min(FIRST, len(data[split]))
        rows += f"| {split} | {count} | `{data[split].digests([count])[count]}` |\n"
    return f"""A ready world of simtown: cite it as "{world}". Licence: {LICENCE}.

`simtown generate --world {name} --seed {s.seed} --n {s.n} --val {s.val} --test {s.test}` makes it anew,
with the same bytes on every machine. `open_dataset(...).train.digests([{FIRST}])` gives the digests of its
first examples, pictures included:

| split | first | digest |
| --- | ---: | --- |
{rows}"""


def _feature(feature: Any) -> dict[str, Any]:
    """A column as the YAML header has it."""
    if isinstance(feature, dict):
        return {"list": [{"name": name, **_feature(inner)} for name, inner in feature.items()]}
    if isinstance(feature, tuple):
        return {"dtype": {"class_label": {"names": {str(i): name for i, name in enumerate(feature)}}}}
    return {"sequence": "float32", "length": 4} if feature == "box" else {"dtype": feature}


def _size(n: int) -> str:
    """Hugging Face's name for a range of sizes."""
    bounds = ("1K", "10K", "100K", "1M", "10M", "100M", "1B")
    i = min(max(len(str(n)) - 3, 0), len(bounds) - 1)
    return f"{bounds[i - 1]}<n<{bounds[i]}" if i else "n<1K"

"""A page for each family of questions, and the list of them, made from simtown/language/asking/families.toml.

docs/conf.py calls `write` whenever the site is built; `python -m tools.families NAME ...` writes some pages.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image

from simtown.core.callbacks import ProgressCallback
from simtown.datasets.making.generate import generate
from simtown.datasets.reading.reader import Dataset, Example, open_dataset
from simtown.datasets.settings import Settings
from simtown.datasets.source import source_of
from simtown.language.asking.templates import Family
from simtown.language.meaning.answers import ANSWERS
from simtown.language.meaning.programs import parse
from simtown.town.explaining import reason

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "families"
RESULTS = ROOT / "benchmarks" / "results" / "families.csv"
#: Pixels of a side of a picture, and pictures of a page.
SIDE, SHOWN = 320, 3
#: Which rows of the table of thresholds (docs/questions.md) decide, by a part of a program, or by a slot.
MARGINS = {
    " clause ": ("left of, right of", "in front of, behind", "lane", "direction"),
    " turn ": ("direction",),
    " set ": ("has a colour", "has not a colour", "lane", "direction"),
    " tally ": ("has a colour", "has not a colour", "direction"),
    " one ": ("nearest, farthest", "left of, right of"),
    " pale ": ("nearest, farthest", "left of, right of"),
    "related(between": ("between",),
    " relation ": ("left of, right of", "in front of, behind"),
    " lateral ": ("left of, right of",),
    " driver ": ("on the left or right",),
    "compared(": ("nearest, farthest",),
    "(most(nearest": ("nearest, farthest",),
    "nth(": ("left of, right of",),
    "query(distance": ("how far",),
    "lane": ("lane",),
    "direction": ("direction",),
    "colour": ("has a colour", "has not a colour"),
    "query(hidden": ("hidden:",),
    "query(box": ("third of the picture",),
    "query(weather": ("weather",),
}


def write(folder: Path = PAGES, names: tuple[str, ...] = ()) -> None:
    """Write the pages, with their pictures, and the list of all families."""
    folder.mkdir(parents=True, exist_ok=True)
    families = source_of(Settings(questions=("all",))).recipe("train").families
    questions = {}
    for seed, family in enumerate(families, 11):  # every family has streets of its own
        if family.name in names or not names:
            text = "\n".join(page(family, folder, seed)) + "\n"
            write_changed(folder / f"{family.name}.md", text)
            questions[family] = text.partition("![")[2].partition("]")[0]
    if not names:
        write_changed(folder / "index.md", "\n".join(listed(questions)) + "\n")


def write_changed(path: Path, text: str) -> None:
    """Write a page; one that is as it was keeps its date, so Sphinx does not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def listed(questions: dict[Family, str]) -> Iterator[str]:
    """The list of all families, with a question and what answers it."""
    yield from ("# Families of questions", "")
    yield "`simtown generate --questions NAME,NAME` asks some of them, `--questions all` all."
    yield "[Questions](../questions.md) says what all have in common."
    yield from ("", "| family | such as | answers |", "| --- | --- | --- |")
    for family, question in questions.items():
        yield f"| [{family.name}]({family.name}.md) | {question} | {answers_of(family)} |"
    yield from ("", "```{toctree}", ":hidden:", "", *(family.name for family in questions), "```")


def answers_of(family: Family) -> str:
    """The answers of a family in words: all of a few, else how many of what."""
    answers = ANSWERS[family.answer]
    if family.answer in ("kind", "colour"):
        return f"one of {len(answers)}, such as {answers[0]}"
    return ", ".join(answers) if len(answers) < 8 else f"{answers[0]} to {answers[-1]}"


def page(family: Family, folder: Path, seed: int) -> Iterator[str]:
    """The lines of a family's page; its pictures are written beside it."""
    settings = Settings(
        questions=(family.name,), n=2 * SHOWN, val=0, test=0, width=SIDE, height=SIDE, seed=11
    )
    yield from (f"# {family.name}", "", f"Answers: {answers_of(family)}.", "")
    yield from ("```", f"simtown generate --questions {family.name} --n 20000", "```", "")
    with made(settings) as data:  # two examples are a pair: one of each
        yield from shown([data.train[2 * i + i % 2] for i in range(SHOWN)], folder, family.name)
    yield from ("## Programs and texts", "", "| program | numbers stand for | texts |", "| --- | --- | --- |")
    for template in family.templates:
        texts = "<br>".join(template.texts)
        yield f"| `{template.program}` | {', '.join(template.slots) or 'nothing'} | {texts} |"
    yield from ("", "## Margins", "")
    yield from margins(family)
    yield from ("", "## Accuracy of models", "")
    yield from accuracies(family.name)
    yield from ("", "## Its twin", "")
    with made(replace(settings, twins=True, n=4)) as data:
        edit = data.names["edits"][data.train.rows(["edit"], [0])["edit"][0]]
        yield "One thing differs between two pictures, and so does the answer (`generate --twins`);"
        yield f"here the edit is *{edit}*."
        yield ""
        yield from shown([data.train[0], data.train[1]], folder, f"{family.name}-twin")


@contextmanager
def made(settings: Settings) -> Iterator[Dataset]:
    """A data set of these settings for as long as a block lasts."""
    with TemporaryDirectory() as folder:
        generate(settings, Path(folder, "made"), workers=1, callback=ProgressCallback())
        yield open_dataset(Path(folder, "made"))


def shown(examples: list[Example], folder: Path, name: str) -> Iterator[str]:
    """Pictures beside each other, each above its question, answer and reason."""
    yield f"::::{{grid}} 1 {min(len(examples), 2)} {len(examples)} {len(examples)}"
    for number, example in enumerate(examples):
        file = folder / f"{name}-{number}.webp"
        Image.fromarray(example.image).save(file, quality=82, method=6)
        why = because(example)
        yield from (":::{grid-item}", f"![{example.question}]({file.name})", "")
        yield from (f"{example.question} **{example.reply}**" + f": {why}" * bool(why), ":::")
    yield from ("::::", "")


def because(example: Example) -> str:
    """Why the answer of an example is what it is."""
    if example.program:
        return reason(example.scene, parse(example.program), example.visible, example.boxes)
    return f"the margin is {example.margin:+.2f} m"


def margins(family: Family) -> Iterator[str]:
    """The rows of the table of thresholds on which the family's answers depend."""
    text = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    rows = text.partition("<!-- thresholds -->")[2].partition("<!-- end -->")[0].strip().splitlines()[2:]
    parts = " ".join(f"{each.program}  {'  '.join(each.slots)} " for each in family.templates)
    wanted = {name for part, names in MARGINS.items() if part in parts for name in names}
    if "street" in parts:
        wanted = {"a thing beside the road"}
    found = [row.strip("| ").split(" | ")[:2] for row in rows if row.strip("| ").startswith(tuple(wanted))]
    if not wanted or not found:
        yield "None of its own: it asks what is there, and every vehicle of a street is visible."
        return
    yield from ("Questions that depend on a borderline fact are never asked.", "", "| | |", "| --- | --- |")
    yield from (f"| {what} | {limits} |" for what, limits in found)
    yield from ("", "[All thresholds](../questions.md#thresholds)")


def accuracies(name: str) -> Iterator[str]:
    """What small models trained here have right (benchmarks/families.py)."""
    with RESULTS.open(encoding="utf-8", newline="") as file:
        machine = next(file).lstrip("# ").strip()
        rows = [row for row in csv.DictReader(file) if (row["rules"], row["family"]) == ("fair", name)]
    if not rows:
        yield "Not measured."
        return
    row = {column: f"{float(cell):.3f}" if "." in cell else cell for column, cell in rows[0].items()}
    yield from ("| who answers | right | 95 % |", "| --- | ---: | --- |")
    yield f"| the best constant answer | {row['constant']} | |"
    for model in ("question-only", "picture-only", "cnn-lstm"):
        yield f"| `{model}` | {row[model]} | {row[f'{model} low']} to {row[f'{model} high']} |"
    yield f"| the stored program on the stored scene | {row['oracle']} | |"
    yield ""
    trained_on = re.sub(r"(\d)(\d{3})\b", r"\1,\2", machine.partition(";")[0]).replace("entities", "kinds")
    yield f"{row['n']} test questions. Models learned from {trained_on} (`python benchmarks/families.py`)."
    yield "So short a training is too little for `cnn-lstm` in most families."


if __name__ == "__main__":
    write(names=tuple(sys.argv[1:]))

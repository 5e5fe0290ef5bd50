"""People as a row: a page that asks them the questions of a data set, and a model that says what they said.

The page is one file that needs no server. It asks the first QUESTIONS of a split, which are the same for
everyone, in one order, and downloads the answers as CSV: ``people:FILE.csv`` is a model with these answers.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from hashlib import sha256
from importlib.resources import files
from io import BytesIO
from math import inf
from pathlib import Path
from typing import Any

from PIL import Image

from simtown.core.missing import no_path
from simtown.core.options import SettingsError, recorded
from simtown.core.tables import read_rows
from simtown.core.untrusted import read_bytes
from simtown.datasets.making.manifests import SEAL
from simtown.datasets.reading.reader import Dataset
from simtown.datasets.showing.gallery import assemble, base_style
from simtown.language.words.replies import Gold
from simtown.vlm.conditions import AskedExample, AskedSplit
from simtown.vlm.vision_model import Query, Said, VisionModel
from simtown.vlm.vlm_settings import PEOPLE, VlmSettings

#: Questions that people answer, the first of a split; all, if it has fewer.
QUESTIONS = 200
#: Columns of the answers: the seal of the data set, the question's key such as "test:7", the answer, and the
#: seconds for which the question was shown.
HEAD = ("data", "key", "answer", "seconds")
_METRES = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4})? m")


def page(dataset: Dataset, split: str) -> str:
    """The page that asks people about a split, in HTML; it does not hold the right answers.

    Raises SettingsError if the split has no examples.
    """
    asked = AskedSplit(dataset, split)
    if not len(asked):
        raise SettingsError(f"of {dataset.name} has no examples: choose another", "split")
    survey = {
        "data": dataset.manifest[SEAL],
        "split": split,
        "head": HEAD,
        "questions": [_question(asked[number]) for number in asked.order(min(len(asked), QUESTIONS))],
    }
    markup, style, script = (
        (files(__package__) / f"people.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    )
    # "<" could end the block of the script
    content = json.dumps(survey, separators=(",", ":")).replace("<", "\\u003c")
    return assemble(dataset.name, markup, base_style() + style, f"const survey = {content};\n{script}")


def _question(example: AskedExample) -> dict[str, Any]:
    """A question as the page asks it, with the very pixels that models get."""
    query = example.query()
    content = BytesIO()
    Image.fromarray(example.example.image).save(content, "WEBP", lossless=True)
    picture = b64encode(content.getvalue()).decode()
    return {
        "key": query.key,
        "question": query.question,
        "choices": query.gold.choices,
        "metres": query.gold.type == "metres",
        "picture": f"data:image/webp;base64,{picture}",
    }


class PeopleModel(VisionModel):
    """A person's answers, as the page downloaded them.

    Raises ValueError, which names the line, if the file is not such a table.
    """

    def __init__(self, place: str, settings: VlmSettings, device: str) -> None:
        self._path = path = Path(place)
        if not path.exists():
            raise SettingsError(no_path(path))
        self.identity = sha256(read_bytes(path)).hexdigest()
        self._lines, self._said = read_rows(path, HEAD), dict[str, Said]()

    def prepare(self, asked: AskedSplit, settings: VlmSettings) -> VlmSettings:
        """The settings by which people were asked.

        Raises:
            SettingsError: the settings have something that holds for other models alone.
            ValueError: the answers are about other questions, some are missing, or a line is damaged.
        """
        own = VlmSettings(split=settings.split, examples=QUESTIONS, controls=0)
        if recorded(settings) != recorded(own) or settings.examples not in (None, QUESTIONS):
            given = f"{PEOPLE}:{self._path} holds answers that are given"
            raise SettingsError(f"{given}: leave out every setting of models but `split`")
        examples = map(asked.__getitem__, range(min(len(asked), QUESTIONS)))
        golds = {example.query().key: example.gold() for example in examples}
        for where, cells in self._lines:
            key = cells["key"]
            if cells["data"] != asked.dataset.manifest[SEAL]:
                other = f"{where} is about another data set than {asked.dataset.name}"
                raise ValueError(f"{other}: give the one whose page asked")
            if key not in golds or key in self._said:
                problem = "a second time" if key in golds else f"which is not among the {len(golds)} asked"
                raise ValueError(f"{where} answers the question {key}, {problem}: delete the line")
            self._said[key] = _said(where, cells["answer"], cells["seconds"], golds[key])
        if missing := [key for key in golds if key not in self._said]:
            lacks = f"{self._path} lacks {len(missing)} of {len(golds)} answers, such as to {missing[0]}"
            raise ValueError(f"{lacks}: the page downloads them when all are given")
        return own

    def ask(self, queries: Iterable[Query]) -> Iterator[tuple[Query, Said]]:
        for query in queries:
            yield query, self._said[query.key.partition("/")[2]]


def _said(where: str, answer: str, seconds: str, gold: Gold) -> Said:
    """A person's answer. Raises ValueError if a line holds none."""
    try:
        time = float(seconds)
    except ValueError:
        time = inf
    if answer not in gold.choices and not (gold.type == "metres" and _METRES.fullmatch(answer)):
        raise ValueError(f"{where} is damaged: '{answer:.40}' is not an answer to its question")
    if not 0 <= time < inf:
        raise ValueError(f"{where} is damaged: '{seconds:.40}' is not a number of seconds")
    return Said(answer, seconds=time)

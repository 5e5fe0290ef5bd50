"""The settings of ``simtown evaluate MODEL DATA``. ``simtown --help`` reads this module: nothing heavy."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from simtown.core.options import option
from simtown.core.untrusted import parse_json
from simtown.datasets.addresses import ALL_SPLITS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


#: Whom the page asks, and the kind of model that has the answers.
PEOPLE = "people"


class ModelKind(NamedTuple):
    """A kind of models.

    Attributes:
        form: how a name of it is written, in words.
        opener: "module:name" of what opens one. It is called with the place behind the colon, the settings
            and the device, and gives a :class:`~simtown.vlm.vision_model.VisionModel`.
    """

    form: str
    opener: str


#: What can be asked, by what stands before the colon.
KINDS = {
    "hf": ModelKind(
        "hf:ID-OR-DIR, an image-text-to-text model in Hugging Face's layout",
        "simtown.vlm.hub_models:ChatModel",
    ),
    "clip": ModelKind("clip:ID-OR-DIR, a CLIP or SigLIP", "simtown.vlm.hub_models:ClipModel"),
    "openai": ModelKind(
        "openai:URL#MODEL, a server with OpenAI's chat protocol",
        "simtown.vlm.server_model:ServerModel",
    ),
    "command": ModelKind(
        "command:PROGRAM, a program that reads and writes JSON lines",
        "simtown.vlm.program_models:ProgramModel",
    ),
    "python": ModelKind("python:package.module:function", "simtown.vlm.program_models:FunctionModel"),
    PEOPLE: ModelKind(
        "people:FILE.csv, answers of a person, from the page that simtown evaluate people DATA writes",
        "simtown.vlm.people_model:PeopleModel",
    ),
}
#: The group of entry points by which installed packages add kinds.
GROUP = "simtown.vlm"
#: Kinds that run on no device here.
WITHOUT_DEVICE = ("openai:", "command:", "python:", f"{PEOPLE}:")
_CONTROLS = (
    "Ask about so many of the examples under the controls as well (without a picture, with another picture, "
    "in a mirror, with the vehicles exchanged, in other words, whether each vehicle is there); 0: none."
)
#: The end of a message about a run that stopped.
CONTINUES = "the same command goes on where this one stopped"
#: What a model may be shown.
SHOWS = ("picture", "text", "both", "none")
DTYPES = ("auto", "float32", "bfloat16", "float16")
_ANSWERS = (
    "How a model of hf: answers: scores (it chooses among the answers by their log-probabilities), reply (it "
    "writes, and its reply is read), or auto (scores of up to 16 answers, else a reply)."
)
_EXAMPLES = "Ask about the first so many examples alone; a larger number later asks the others."
_TIMEOUT = "Seconds to wait for a whole reply of a server, or for the next one of a program."
_PRICE = "Dollars for a million tokens, read and written, such as 0.15,0.60: the summary has the cost."

_REQUEST = (
    "JSON to add to every request to a server; null takes out what is there: "
    '{"max_tokens": null, "max_completion_tokens": 500, "temperature": null}.'
)

_CHOICES = (
    "letters: offer the answers as lettered options. Every answer stands on every letter equally often where "
    "it is right, and the summary has the share of each position."
)
_SAMPLES = "Ask each question so many times, at temperature 1: pass@k, majority, agreement."
_RETRIES = "Times that a failed request is sent again."
_METRIC = "package.module:function that takes the rows of a condition and gives a number. Repeatable."
_SHOW = (
    "What a model is shown, with commas between: the picture; a text, which says what decides the question; "
    "both; none. Of several, the summary compares them."
)
_AS = "How a text says where things are: sentences, coordinates, or a plan of characters."
_DISTRACTORS = "Sentences of a text that decide nothing, at most."
_SHOTS = "Show so many training examples with their answers before each question."


def _request_problem(request: str) -> str:
    try:
        value = parse_json(request)
    except ValueError as error:
        return f"{request:.200} is not JSON: {error}"
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return f"{request:.200} holds NaN or an infinity, which JSON has not"
    return "" if isinstance(value, dict) else f"{request:.200} is not a JSON object"


def _price_problem(price: str) -> str:
    try:
        read, written = map(float, price.split(","))
    except ValueError:
        return f"{price} cannot be read as two prices: write 0.15,0.60"
    is_possible = 0 <= read < inf and 0 <= written < inf
    return "" if is_possible else f"{price} has a price that is negative or not finite"


@dataclass(frozen=True)
class AskingSettings:
    """Settings for a model that is asked, whatever it is asked."""

    answers: str = option("auto", _ANSWERS, choices=("auto", "scores", "reply"))
    max_tokens: int = option(64, "Most tokens of a reply.", low=1)
    dtype: str = option("auto", "Numbers of the model: auto (as stored), or a float type.", choices=DTYPES)
    batch: int = option(8, "Questions to a model of hf: or clip: at once.", low=1, recorded=False)
    parallel: int = option(8, "Requests to a server at once.", low=1, high=256, recorded=False)
    rate: float | None = option(None, "Most requests to a server in a minute.", above=0, recorded=False)
    timeout: float = option(120.0, _TIMEOUT, above=0, high=1e6, recorded=False)
    retries: int = option(8, _RETRIES, low=0, high=1_000, recorded=False)
    request: str | None = option(None, _REQUEST, test=_request_problem)


@dataclass(frozen=True)
class VlmSettings(AskingSettings):
    """Settings for asking a vision-language model about a data set."""

    split: str = option("test", "The split to ask about.", choices=ALL_SPLITS)
    show: tuple[str, ...] = option(("picture",), _SHOW, choices=SHOWS, recorded=False)
    text_as: str = option("sentences", _AS, choices=("sentences", "coordinates", "plan"), flag="as")
    distractors: int = option(2, _DISTRACTORS, low=0, high=32)
    examples: int | None = option(None, _EXAMPLES, low=1, recorded=False)
    controls: int = option(200, _CONTROLS, low=0, recorded=False)
    choices: str | None = option(None, _CHOICES, choices=("letters",))
    system: str | None = option(None, "A system prompt, for models of hf: and openai:.")
    shots: int | None = option(None, _SHOTS, low=1, high=16)
    samples: int | None = option(None, _SAMPLES, low=2, high=64)
    price: str | None = option(None, _PRICE, test=_price_problem, recorded=False)
    metric: tuple[str, ...] = option((), _METRIC, recorded=False)


@dataclass(frozen=True)
class CheckSettings(AskingSettings):
    """Settings for checking the path to a vision-language model."""

    queries: int = option(300, "Most questions that are asked.", low=200, high=10_000)
    retries: int = option(2, _RETRIES, low=0, high=1_000, recorded=False)

    @property
    def asking(self) -> VlmSettings:
        """The settings by which a model is opened."""
        return VlmSettings(**{own.name: getattr(self, own.name) for own in fields(AskingSettings)})


def find_kind(words: str) -> EntryPoint | None:
    """What opens the model that words name; None if they name none."""
    from importlib.metadata import EntryPoint, entry_points  # --help needs none

    kind, colon, _ = words.partition(":")
    if colon and kind in KINDS:
        return EntryPoint(kind, KINDS[kind].opener, GROUP)
    return next(iter(entry_points(group=GROUP, name=kind)), None) if colon else None


def is_model(words: str) -> bool:
    """Whether words name a model of these kinds, and no run of ours."""
    return find_kind(words) is not None

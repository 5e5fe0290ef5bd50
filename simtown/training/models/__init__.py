"""Models by name: ours, and a user's own as ``package.module:Class``.

A model is a ``torch.nn.Module`` made as ``Class(world, **options)`` with a
:class:`simtown.training.world.World`; its ``forward(batch)`` takes a :class:`simtown.training.world.Batch`
and returns (b,) logits of the answer yes; for questions of families (b, world.answers) logits. Where it has a
``loss(batch)`` returning ``(loss, logits)``, that is minimised, otherwise cross-entropy.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtown.core.own_code import own_code

if TYPE_CHECKING:
    from torch import nn

    from simtown.training.world import World

MODELS: dict[str, str] = {
    "pbn": "simtown.training.models.pbn:PlaceBinder",
    "pbn-no-boxes": "simtown.training.models.pbn:PlaceBinderNoBoxes",
    "cnn-lstm": "simtown.training.models.cnn_lstm:CnnLstm",
    "cnn-lstm-boxes": "simtown.training.models.cnn_lstm:CnnLstmBoxes",
    "film": "simtown.training.models.film:Film",
    "relation-network": "simtown.training.models.relation_network:RelationNetwork",
    "vit": "simtown.training.models.transformer:VisionTransformer",
    "true-boxes": "simtown.training.models.transformer:TrueBoxes",
    "order-blind": "simtown.training.models.cnn_lstm:OrderBlind",
    "one-picture": "simtown.training.models.cnn_lstm:OnePicture",
    "question-only": "simtown.training.models.cnn_lstm:QuestionOnly",
    "picture-only": "simtown.training.models.cnn_lstm:PictureOnly",
}
#: Models that are told a subject, a relation and an object, or their boxes, which only the paper's questions
#: have.
_OF_PAIRS = ("pbn", "pbn-no-boxes", "cnn-lstm-boxes", "true-boxes")
_FLAGS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


class ModelError(ValueError):
    """A model that cannot be found or made; the message says what to write instead."""


def encoder_of(name: str) -> str:
    """The encoder in a model's name head:hf:ID-OR-DIR or head:clip:ID-OR-DIR; "" for other models."""
    kind, _, encoder = name.partition(":")
    return encoder if kind == "head" else ""


def require_allowed(name: str, file: Path | str, allow_model: Collection[str] = ()) -> None:
    """Raises ModelError if a model that a file names is neither one of ours nor one that the user allows.

    So no code is imported because a file says so.
    """
    if name not in MODELS and name not in allow_model:
        trust = f"if you trust it, allow it with `allow_model={name}`"
        advice = trust if ":" in name else f"choose among {', '.join(MODELS)}"
        raise ModelError(f"{file} names the model '{name}', which is not one of simtown's own: {advice}")


def require_model(name: str) -> None:
    """Raises ModelError if a name is none of ours and not written as package.module:Class."""
    if name not in MODELS and not all(name.partition(":")):
        others = "head:hf:ID-OR-DIR, which is a head on an encoder, or your own as package.module:Class"
        raise ModelError(f"unknown model '{name}': choose among {', '.join(MODELS)}, or give {others}")


def require_serves(name: str, asks: bool) -> None:
    """Raises ModelError if a model is for the paper's questions alone and families are asked."""
    if asks and name in _OF_PAIRS:
        others = ", ".join(model for model in MODELS if model not in _OF_PAIRS)
        raise ModelError(
            f"the model '{name}' is for the paper's questions (`questions=paper`), which have a subject, a "
            f"relation and an object: for other families choose among {others}"
        )


def require_sees(name: str, pictures: int) -> None:
    """Raises ModelError if a model sees a single picture, and an example has several."""
    if pictures > 1 and encoder_of(name):
        others = ", ".join(model for model in MODELS if model not in _OF_PAIRS)
        raise ModelError(
            f"the model '{name}' sees one picture, and an example of this data set has {pictures}: "
            f"choose among {others}"
        )


def find(name: str) -> type[nn.Module]:
    """The class of a model by its name. Raises ModelError."""
    require_model(name)
    ours = "simtown.training.models.head:Head" if encoder_of(name) else MODELS.get(name)
    module, _, attribute = (ours or name).partition(":")
    from torch import nn

    if not ours:
        search(Path.cwd())
    with own_code(lambda words: ModelError(f"cannot import the model '{name}': {words}")):
        kind = getattr(import_module(module), attribute)
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise ModelError(f"the model '{name}' is not a class derived from torch.nn.Module")
    return kind


def search(folder: Path | str) -> None:
    """Import modules of the user's own models from a folder too, usually the working directory."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def options(name: str, texts: dict[str, str]) -> dict[str, Any]:
    """All options of a model: its defaults, changed by `texts`, which are read as the defaults' types.

    Raises:
        ModelError: the model does not have an option, or a value cannot be read.
    """
    defaults = read_options(find(name))
    result = {key: default for key, default in defaults.items() if default is not Parameter.empty}
    if encoder := encoder_of(name):
        from simtown.training.encoder import directory_of

        result["digest"] = directory_of(encoder)[1]
    for key, text in texts.items():
        if key not in defaults:
            known = ", ".join(defaults) or "none"
            raise ModelError(f"the model {name} has no option '{key}': it has {known}")
        kind = type(result.get(key, text))
        try:
            result[key] = _FLAGS[text.lower()] if kind is bool else kind(text)
        except (KeyError, TypeError, ValueError):
            raise ModelError(
                f"`option` {key}={text}: '{text}' cannot be read as a value like {result[key]!r}, its default"
            ) from None
    return result


def read_options(kind: Any) -> dict[str, Any]:
    """The options of a model's class by name with their defaults; Parameter.empty for one that has none.

    A class that takes ``**others`` also has those of the class that it derives from, except its ``fixed``
    ones, which it sets itself.
    """
    own = list(signature(kind).parameters.values())[1:]  # the first is the world
    defaults = {p.name: p.default for p in own if p.kind is not Parameter.VAR_KEYWORD}
    if len(defaults) < len(own):
        defaults = read_options(kind.__base__) | defaults
    fixed = getattr(kind, "fixed", ())
    return {name: default for name, default in defaults.items() if name not in fixed}


def build(name: str, world: World, chosen: dict[str, Any]) -> nn.Module:
    """A model, its weights drawn from PyTorch's current random state. Raises ModelError."""
    require_serves(name, world.answers > 1)
    require_sees(name, world.pictures)
    kind, encoder = find(name), encoder_of(name)
    given = ", ".join(f"{key}={value}" for key, value in chosen.items())
    advice = f"give another `option` than one of {given}" if name in MODELS else ""
    with own_code(lambda words: ModelError(f"cannot make the model '{name}': {advice or words}"), ModelError):
        return kind(world, **({"encoder": encoder} if encoder else {}), **chosen)


def finds_boxes(model: nn.Module) -> bool:
    """Whether the model has ``boxes(batch)`` and was taught them.

    With a ``box_weight`` of 0 they mean nothing.
    """
    return hasattr(model, "boxes") and getattr(model, "box_weight", 1.0) > 0

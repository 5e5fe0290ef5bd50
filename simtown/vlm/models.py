"""From a name such as "hf:HuggingFaceTB/SmolVLM-256M-Instruct" to a vision-language model."""

from collections.abc import Collection

from simtown.core.options import SettingsError
from simtown.vlm.vision_model import VisionModel
from simtown.vlm.vlm_settings import KINDS, VlmSettings, find_kind


def open_model(
    name: str, settings: VlmSettings, device: str = "cpu", allow_model: Collection[str] = ()
) -> VisionModel:
    """Open a model by its name, such as "hf:HuggingFaceTB/SmolVLM-256M-Instruct".

    Args:
        name: a kind of KINDS or of an installed package, a colon, and where the model is.
        settings: how it is asked.
        device: "cpu" or "cuda".
        allow_model: functions of python: whose code may be run.

    Raises:
        SettingsError: there is no such model, or it cannot be used.
        ValueError: a file of people's answers is damaged.
    """
    kind, _, place = name.partition(":")
    entry = find_kind(name)
    if entry is None or not place:
        forms = "; or ".join(known.form for known in KINDS.values())
        raise SettingsError(f"{name} is not a model: write {forms}")
    if kind == "python" and place not in allow_model:
        raise SettingsError(f"must be given {place}: its code runs here", "allow_model")
    try:
        opener = entry.load()
    except (ImportError, AttributeError) as error:
        if kind in KINDS:  # a library that the extra vlm installs
            raise
        raise SettingsError(f"{kind}: cannot be imported from {entry.value}: {error}") from error
    opened = opener(place, settings, device)
    if not isinstance(opened, VisionModel):
        raise SettingsError(f"{entry.value} gives {opened!r:.80} for {name}: let it give a VisionModel")
    return opened

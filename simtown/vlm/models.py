"""From a name such as "hf:HuggingFaceTB/SmolVLM-256M-Instruct" to a vision-language model."""

from collections.abc import Collection

from simtown.core.options import SettingsError
from simtown.vlm.vision_model import VisionModel
from simtown.vlm.vlm_settings import KINDS, PEOPLE, VlmSettings


def open_model(
    name: str, settings: VlmSettings, device: str = "cpu", allow_model: Collection[str] = ()
) -> VisionModel:
    """Open a model by its name, such as "hf:HuggingFaceTB/SmolVLM-256M-Instruct".

    Args:
        name: a kind of KINDS, a colon, and where the model is.
        settings: how it is asked.
        device: "cpu" or "cuda".
        allow_model: functions of python: whose code may be run.

    Raises:
        SettingsError: there is no such model, or it cannot be used.
        ValueError: a file of people's answers is damaged.
    """
    kind, _, place = name.partition(":")
    if kind not in KINDS or not place:
        raise SettingsError(f"{name} is not a model: write {'; or '.join(KINDS.values())}")
    if kind in ("hf", "clip"):
        from simtown.vlm.hub_models import ChatModel, ClipModel

        return (ChatModel if kind == "hf" else ClipModel)(place, settings, device)
    if kind == "openai":
        from simtown.vlm.server_model import ServerModel

        return ServerModel(place, settings)
    if kind == PEOPLE:
        from simtown.vlm.people_model import PeopleModel

        return PeopleModel(place)
    from simtown.vlm.program_models import FunctionModel, ProgramModel

    return ProgramModel(place) if kind == "command" else FunctionModel(place, allow_model)

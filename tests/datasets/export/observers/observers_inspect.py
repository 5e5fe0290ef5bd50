"""The observers as models of Inspect, an entry point of "inspect_ai"."""

from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from observers import opened, reply


@modelapi(name="observer")
class Observer(ModelAPI):
    """--model observer/knows."""

    async def generate(self, input, tools, tool_choice, config):
        """A reply to a message."""
        *before, text = input[-1].content
        pictures = [opened(part.image) for part in before if part.type == "image"]
        assert config.max_tokens == 64
        said = reply(self.model_name, pictures, text.text)
        return ModelOutput.from_content(self.model_name, said)

"""The observers as models of Inspect, an entry point of "inspect_ai"."""

from inspect_ai.model import ModelAPI, ModelOutput, modelapi
from observers import opened, reply


@modelapi(name="observer")
class Observer(ModelAPI):
    """--model observer/knows."""

    async def generate(self, input, tools, tool_choice, config):
        """A reply to a message."""
        picture, text = input[-1].content
        assert config.max_tokens == 64
        said = reply(self.model_name, opened(picture.image), text.text)
        return ModelOutput.from_content(self.model_name, said)

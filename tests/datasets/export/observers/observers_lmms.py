"""The observers as models of lmms-eval, an entry point of "lmms_eval.models"."""

from lmms_eval.api.model import lmms
from lmms_eval.models.registry_v2 import ModelManifest
from observers import reply

MODELS = [
    ModelManifest("observer", simple_class_path="observers_lmms.Observer"),
    ModelManifest("chatting", chat_class_path="observers_lmms.Chatting"),
]


class Observer(lmms):
    """--model observer --model_args name=knows."""

    def __init__(self, name, **_):
        super().__init__()
        self.name = name

    def generate_until(self, requests):
        """A reply to each request."""
        replies = []
        for text, *both, number, task, split in (request.args for request in requests):
            limits, shown = both if self.is_simple else reversed(both)
            assert limits["max_new_tokens"] == 64
            assert not limits["until"]
            replies.append(self.said(shown(self.task_dict[task][split][number]), text))
        return replies

    def said(self, pictures, text):
        """A reply to pictures and a text."""
        return reply(self.name, pictures, text)

    def loglikelihood(self, requests):
        raise NotImplementedError

    def generate_until_multi_round(self, requests):
        raise NotImplementedError


class Chatting(Observer):
    """--model chatting: reads messages, whose texts are lines to it."""

    is_simple = False

    def said(self, messages, text):
        """A reply to a message; `text` is for models that read none."""
        content = [part for message in messages for part in message["content"]]
        pictures = [part["url"] for part in content if part["type"] == "image"]
        texts = [part["text"] for part in content if part["type"] == "text"]
        return reply(self.name, pictures, "\n".join(texts))

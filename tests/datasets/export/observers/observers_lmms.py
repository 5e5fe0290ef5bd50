"""The observers as a model of lmms-eval, an entry point of "lmms_eval.models"."""

from lmms_eval.api.model import lmms
from lmms_eval.models.registry_v2 import ModelManifest
from observers import reply

MODELS = [ModelManifest("observer", simple_class_path="observers_lmms.Observer")]


class Observer(lmms):
    """--model observer --model_args name=knows."""

    def __init__(self, name, **_):
        super().__init__()
        self.name = name

    def generate_until(self, requests):
        """A reply to each request."""
        replies = []
        for text, limits, pictures, number, task, split in (request.args for request in requests):
            assert limits["max_new_tokens"] == 64
            assert not limits["until"]
            replies.append(reply(self.name, pictures(self.task_dict[task][split][number]), text))
        return replies

    def loglikelihood(self, requests):
        raise NotImplementedError

    def generate_until_multi_round(self, requests):
        raise NotImplementedError

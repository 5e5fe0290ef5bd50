"""Models in Hugging Face's layout, opened through transformers' Auto classes."""

from collections.abc import Iterator, Sequence
from inspect import signature
from itertools import groupby
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
)

from simtown.core.options import SettingsError
from simtown.core.pretrained import (
    fingerprint,
    load_model,
    load_processor,
    model_directory,
    model_json,
    quietly,
)
from simtown.language.words.instructions import message_parts
from simtown.vlm.conditions import AskedSplit
from simtown.vlm.vision_model import BatchedModel, Query, Said
from simtown.vlm.vlm_settings import VlmSettings

#: Most answers whose log-probabilities are asked for; of more, a reply is read.
MOST_CHOICES = 16
#: Types of models that write texts, and of those that also see pictures.
_READERS, _SEERS = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES
#: What is shown to a CLIP where a query has no picture: grey.
_GREY = np.full((64, 64, 3), 128, dtype=np.uint8)


class HubModel(BatchedModel):
    """A model and its processor: a directory, or an ID of the hub."""

    def __init__(self, place: str, settings: VlmSettings, device: str, auto: Any) -> None:
        path = model_directory(place, hub=True)
        self.identity, self.batch, self._device = fingerprint(path), settings.batch, device
        self._processor = load_processor(path)
        self._model = load_model(path, auto, dtype=settings.dtype).eval().to(device)

    def _inputs(self, texts: Sequence[str], pictures: Any, **options: Any) -> dict[str, Any]:
        """The model's inputs from texts, and from pictures as the processor wants them or None."""
        shown = {} if pictures is None else {"images": pictures}
        inputs = self._processor(text=list(texts), **shown, return_tensors="pt", **options)
        if "pixel_values" in inputs:
            inputs["pixel_values"] = inputs["pixel_values"].to(self._model.dtype)
        return dict(inputs.to(self._device))


class ClipModel(HubModel):
    """A model with a tower for pictures and one for texts: CLIP, SigLIP.

    The score of an answer is the mean similarity of the picture and the sentences that say it
    (:func:`simtown.language.words.statements.statements`), as the model scales it.
    """

    def __init__(self, place: str, settings: VlmSettings, device: str) -> None:
        super().__init__(place, settings, device, transformers.AutoModel)
        # SigLIP was trained on texts that are padded to their full length
        self._padding = "max_length" if "siglip" in self._model.config.model_type else True

    def answer(self, queries: Sequence[Query]) -> Sequence[Said]:
        sentences = dict.fromkeys(text for q in queries for said in q.statements for text in said)
        place = {text: number for number, text in enumerate(sentences)}
        pictures = [Image.fromarray(_GREY if q.picture is None else q.picture) for q in queries]
        with torch.inference_mode(), quietly():
            inputs = self._inputs([*sentences], pictures, padding=self._padding, truncation=True)
            similar = self._model(**inputs).logits_per_image.float().cpu().numpy()
        result = []
        for query, row in zip(queries, similar, strict=True):
            scores = [float(row[[place[text] for text in said]].mean()) for said in query.statements]
            result.append(Said(query.gold.choices[int(np.argmax(scores))], tuple(scores)))
        return result


class ChatModel(HubModel):
    """A model that reads a picture and a text, or a text alone, and writes a text.

    Of the answers of a question it gives log-probabilities, of which the highest is its answer; or it writes
    a reply. A score is the probability of an answer behind the prompt, small or with a capital letter, as
    pieces of the tokenizer: of "Yes" and "yes" together, say. A space goes before it if the chat template of
    the model does not end with white space.
    """

    holds_turns = holds_several = True

    def __init__(self, place: str, settings: VlmSettings, device: str) -> None:
        kind = model_json(model_directory(place, hub=True) / "config.json").get("model_type")
        #: Whether it is a language model that sees no picture.
        self._only_reads = kind in _READERS and kind not in _SEERS
        auto = (
            transformers.AutoModelForCausalLM
            if self._only_reads
            else transformers.AutoModelForImageTextToText
        )
        super().__init__(place, settings, device, auto)
        self._settings = settings
        if not getattr(self._processor, "chat_template", None):
            raise SettingsError(f"hf:{place} has no chat template: give a model that was made for chats")
        self._tokenizer = self._processor if self._only_reads else self._processor.tokenizer
        self._tokenizer.padding_side = "left"
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._ends = set(self._tokenizer.all_special_ids)
        self._keeps = "logits_to_keep" in signature(self._model.forward).parameters

    def prepare(self, asked: AskedSplit, settings: VlmSettings) -> VlmSettings:
        if self._only_reads and {"picture", "both"} & {*settings.show}:
            raise SettingsError("may be text and none alone, since this model sees no pictures", "show")
        return settings

    def answer(self, queries: Sequence[Query]) -> Sequence[Said]:
        said: dict[str, Said] = {}
        how = "reply" if self._settings.samples else self._settings.answers
        with torch.inference_mode(), quietly():
            for (_, choices), alike in groupby(sorted(queries, key=_form), _form):
                group = list(alike)
                prompts = [self._prompt(query) for query in group]
                images = [
                    [Image.fromarray(own) for turn in query.messages for own in turn.pictures]
                    for query in group
                ]
                pictures = [own for own in images if own] or None
                inputs = self._inputs(prompts, pictures, padding=True)
                read = inputs["attention_mask"].sum(dim=1).tolist()
                if how == "scores" or (how == "auto" and len(choices) <= MOST_CHOICES):
                    results = self._scores(inputs, prompts[0], choices, read)
                else:
                    results = self._replies(inputs, read)
                said |= {query.key: result for query, result in zip(group, results, strict=True)}
        return [said[query.key] for query in queries]

    def _prompt(self, query: Query) -> str:
        """A query as the model's chat template words it."""
        chat = []
        for role, words, pictures, is_behind in query.messages:
            parts = message_parts(words, [{"type": "image"}] * len(pictures), is_behind)
            chat.append({"role": role, "content": words if self._only_reads else parts})
        text: str = self._processor.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        return text

    def _replies(self, inputs: dict[str, Any], read: list[int]) -> Iterator[Said]:
        most = {"max_new_tokens": self._settings.max_tokens, "do_sample": bool(self._settings.samples)}
        out = self._model.generate(**inputs, **most, pad_token_id=self._tokenizer.pad_token_id)
        for count, ids in zip(read, out[:, inputs["input_ids"].shape[1] :].tolist(), strict=True):
            written = [number for number in ids if number != self._tokenizer.pad_token_id]
            is_cut = len(written) == self._settings.max_tokens and written[-1] not in self._ends
            text = self._tokenizer.decode(written, skip_special_tokens=True)
            yield Said(text, None, count, len(written), "length" if is_cut else "stop")

    def _scores(
        self, inputs: dict[str, Any], prompt: str, choices: Sequence[str], read: list[int]
    ) -> Iterator[Said]:
        first, parts = self._logprobs(inputs, 1)[:, -1], []
        for choice in choices:
            forms = dict.fromkeys((choice, choice[0].upper() + choice[1:]))
            each = [self._of_form(inputs, first, self._pieces(prompt, form)) for form in forms]
            parts.append(torch.stack(each).logsumexp(dim=0))
        for scores, count in zip(torch.stack(parts, dim=1).tolist(), read, strict=True):
            yield Said(choices[int(np.argmax(scores))], tuple(scores), count)

    def _pieces(self, prompt: str, answer: str) -> list[int]:
        """The tokens of an answer behind a prompt."""
        lead = "" if prompt[-1:].isspace() else " "
        before, whole = (
            self._tokenizer(text, add_special_tokens=False)["input_ids"]
            for text in (prompt, f"{prompt}{lead}{answer}")
        )
        own: list[int] = whole[len(before) :]
        return own

    def _of_form(self, inputs: dict[str, Any], first: torch.Tensor, pieces: list[int]) -> torch.Tensor:
        """(n,) log-probabilities of a text behind n prompts."""
        result = first[:, pieces[0]]
        if len(pieces) > 1:
            more = torch.tensor(pieces[:-1], device=self._device).expand(len(first), -1)
            ahead = self._logprobs(_continued(inputs, more), len(pieces))[:, 1:]
            later = torch.tensor(pieces[1:], device=self._device)[None, :, None].expand(len(first), -1, 1)
            result = result + ahead.gather(2, later).sum(dim=(1, 2))
        return result

    def _logprobs(self, inputs: dict[str, Any], last: int) -> torch.Tensor:
        """(n, last, vocabulary) float32 log-probabilities of what follows each of the last tokens."""
        keep = {"logits_to_keep": last} if self._keeps else {}
        logits = self._model(**inputs, **keep, use_cache=False).logits[:, -last:]
        return logits.float().log_softmax(dim=2)


def _form(query: Query) -> tuple[Any, ...]:
    """The shape that queries of one batch share: the shapes of the pictures, and the answers."""
    shapes = [picture.shape for turn in query.messages for picture in turn.pictures]
    return tuple(shapes), query.spoken


def _continued(inputs: dict[str, Any], ids: torch.Tensor) -> dict[str, Any]:
    """Inputs with more tokens, (n, k), behind each prompt."""
    shape = inputs["input_ids"].shape
    more = {name: torch.zeros_like(ids) for name, value in inputs.items() if value.shape == shape}
    more |= {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    added = {name: torch.cat([inputs[name], value.to(inputs[name].dtype)], 1) for name, value in more.items()}
    return inputs | added

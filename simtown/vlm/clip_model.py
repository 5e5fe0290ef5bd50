"""Models that compare a picture with sentences: CLIP, SigLIP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
import transformers
from PIL import Image

from simtown.core.pretrained import fingerprint, load_model, load_processor, model_directory, quietly
from simtown.vlm.vision_model import BatchedModel, Query, Said
from simtown.vlm.vlm_settings import VlmSettings

#: What is shown where a query has no picture, which these models cannot do without: grey.
_GREY = np.full((64, 64, 3), 128, dtype=np.uint8)


class ClipModel(BatchedModel):
    """A model with a tower for pictures and one for texts.

    The score of an answer is the mean similarity of the picture and the sentences that say it
    (:func:`simtown.vlm.statements.statements`), as the model scales it.
    """

    def __init__(self, place: str, settings: VlmSettings, device: str) -> None:
        path = model_directory(place, hub=True)
        self.identity, self.batch, self._device = fingerprint(path), settings.batch, device
        self._processor = load_processor(path)
        model = load_model(path, transformers.AutoModel, dtype=settings.dtype)
        self._model = model.eval().to(device)
        # SigLIP was trained on texts that are padded to their full length
        padded = "siglip" in self._model.config.model_type
        self._padding = "max_length" if padded else True

    def answer(self, queries: Sequence[Query]) -> Sequence[Said]:
        sentences = dict.fromkeys(text for q in queries for said in q.statements for text in said)
        place = {text: number for number, text in enumerate(sentences)}
        pictures = [Image.fromarray(_GREY if q.picture is None else q.picture) for q in queries]
        with torch.inference_mode(), quietly():
            inputs = self._processor(
                text=list(sentences),
                images=pictures,
                padding=self._padding,
                truncation=True,
                return_tensors="pt",
            ).to(self._device)
            inputs["pixel_values"] = inputs["pixel_values"].to(self._model.dtype)
            similar = self._model(**inputs).logits_per_image.float().cpu().numpy()
        return list(_said(queries, similar, place))


def _said(queries: Sequence[Query], similar: np.ndarray, place: dict[str, int]) -> Iterator[Said]:
    """The answers, from the similarity of each query's picture and all sentences."""
    for query, row in zip(queries, similar, strict=True):
        scores = [float(row[[place[text] for text in said]].mean()) for said in query.statements]
        yield Said(query.gold.choices[int(np.argmax(scores))], tuple(scores))

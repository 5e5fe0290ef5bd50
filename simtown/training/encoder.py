"""Frozen image encoders of transformers: ViT, the vision towers of CLIP and SigLIP, DINOv2 and their kin."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import torch
from torch.nn.functional import interpolate, layer_norm, pad

from simtown.core.extras import need
from simtown.core.pretrained import fingerprint, load_image_processor, load_model, model_directory

#: Pictures that are encoded at once, always so many: the last digits of a product depend on its size.
AT_ONCE = 16
#: How a processor resizes, by the numbers of PIL; what is not here is resized as PIL's default for photos.
_RESAMPLING = {0: "nearest", 2: "bilinear", 3: "bicubic"}


class EncoderError(ValueError):
    """Raised if a path holds no image encoder, or a different one than the run used."""


def directory_of(spec: str) -> tuple[Path, str]:
    """The directory of an encoder hf:ID-OR-DIR or clip:ID-OR-DIR, and the digest of what lies there.

    Raises:
        EncoderError: it is written in another way.
        MissingExtraError: transformers is not installed.
        FileNotFoundError: there is no such model, here or on the hub.
    """
    kind, _, place = spec.partition(":")
    if kind not in ("hf", "clip") or not place:
        raise EncoderError(f"'{spec}' names no encoder: write hf:ID-OR-DIR or clip:ID-OR-DIR")
    need("probes", modules="transformers", what="an image encoder")
    path = model_directory(place, hub=True)
    return path, fingerprint(path)


def open_encoder(spec: str, digest: str = "") -> FrozenEncoder:
    """The encoder that `spec` names, see :func:`directory_of`.

    Raises:
        EncoderError: its digest is another than `digest`, or it is not an encoder of pictures.
        Others: see :func:`directory_of` and :func:`simtown.core.pretrained.load_model`.
    """
    path, now = directory_of(spec)
    if digest not in ("", now):
        remedy = "put the files back that the run was trained with, or train again"
        raise EncoderError(f"the encoder {path} has changed (digest {now}, in the run {digest}): {remedy}")
    return _loaded(path, now, spec.startswith("clip:"))


class FrozenEncoder:
    """A model of transformers that turns pictures into features of places, and never learns.

    Pictures get the size, the mean and the standard deviation that the encoder's own preprocessor_config.json
    says, and its kind of resizing. But they are resized whole: nothing is cropped, since a vehicle may stand
    at the edge, so a picture of another shape is stretched.

    Attributes:
        digest: of its files.
        size: height and width of the pictures that it takes, pixels.
        places, channels: of the features of a picture.
    """

    def __init__(self, path: Path, digest: str, two_towers: bool) -> None:
        import transformers

        self.path, self.digest = path, digest
        model, self._processor = load_model(path, transformers.AutoModel), load_image_processor(path)
        tower = getattr(model, "vision_model", None) or getattr(model, "vision_tower", None)
        if two_towers and tower is None:
            raise EncoderError(f"{path} holds no CLIP, but one {type(model).__name__}: open it as hf:{path}")
        self.model = (tower or model).eval().requires_grad_(False)
        crop = getattr(self._processor, "crop_size", None)
        size = crop if crop and self._processor.do_center_crop else self._processor.size
        square = size.get("shortest_edge") or size.get("longest_edge")
        self.size = size.get("height") or square, size.get("width") or square
        blank = torch.zeros(1, *self.size, 3, dtype=torch.uint8)
        try:
            self.places, self.channels = self.encode(blank).shape[1:]
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
            reason = str(error).partition("\n")[0]
            other = "give a ViT, CLIP, SigLIP or DINOv2"
            raise EncoderError(f"{path} does not encode pictures as one would: {reason}; {other}") from error

    def prepare(self, pixels: torch.Tensor) -> torch.Tensor:
        """(b, h, w, 3) uint8 RGB pictures → (b, 3, *size) float32, as the encoder wants them."""
        has, pictures = self._processor, pixels.permute(0, 3, 1, 2).float()
        if pictures.shape[2:] != self.size:
            mode = _RESAMPLING.get(has.resample, "bicubic")
            smooth = {"antialias": True} if mode != "nearest" else {}
            pictures = interpolate(pictures, self.size, mode=mode, **smooth).round().clamp(0, 255)
        if getattr(has, "do_flip_channel_order", False):
            pictures = pictures.flip(1)  # it learned from blue, green, red
        if has.do_rescale:
            pictures = pictures * has.rescale_factor
        if getattr(has, "do_normalize", False):
            mean, std = (pictures.new_tensor(each).view(3, 1, 1) for each in (has.image_mean, has.image_std))
            pictures = (pictures - mean) / std
        return pictures

    @torch.compiler.disable
    @torch.no_grad()
    def encode(self, pixels: torch.Tensor) -> torch.Tensor:
        """(b, h, w, 3) uint8 pictures → (b, places, channels) float16 features, on the pictures' device.

        A place is a patch, or one of the tokens that an encoder has besides: what its last layer says there.
        It is computed in float32 whatever the weights were stored in, and each place is scaled to mean 0 and
        variance 1, so that no number is too large for float16.
        """
        self.model.to(pixels.device)
        parts = []
        with torch.autocast(pixels.device.type, enabled=False):
            for part in pixels.split(AT_ONCE):
                whole = pad(part, (0, 0) * 3 + (0, AT_ONCE - len(part)))
                seen = self.model(pixel_values=self.prepare(whole)).last_hidden_state[: len(part)]
                if seen.dim() == 4:  # maps of a convolutional network
                    seen = seen.flatten(2).transpose(1, 2)
                parts.append(layer_norm(seen, seen.shape[2:]).half())
        return torch.cat(parts)


#: The last encoder stays loaded, for all runs that share it.
_loaded = lru_cache(maxsize=1)(FrozenEncoder)

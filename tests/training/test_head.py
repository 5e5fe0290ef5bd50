"""A head on a frozen encoder: its pictures, its features and their cache, and that it learns."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from simtown.core.callbacks import ProgressCallback
from simtown.core.files import ForeignDirectoryError
from simtown.datasets.reading.reader import open_dataset
from simtown.training import kept_features
from simtown.training.ask import evaluate, predict
from simtown.training.encoder import open_encoder
from simtown.training.fit import fit
from simtown.training.models import ModelError, build, options
from simtown.training.sources import as_input
from tests.training.towns import SMALL, noise, preset, result, world

tf = pytest.importorskip("transformers", reason="needs transformers: pip install '.[probes]'")

TOWER = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
EYE = TOWER | {"image_size": 32, "patch_size": 8}
TEXT = TOWER | {"vocab_size": 50, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
TOWERS = {"text_config": TEXT, "vision_config": EYE}
SQUARE, CPU = {"height": 32, "width": 32}, torch.device("cpu")
CROPPED = {"size": {"shortest_edge": 40}, "crop_size": SQUARE}
#: Configuration, processor and places. CLIP's and DINOv2's processors crop; each resizes in its own way.
KINDS = {
    "vit": (tf.ViTConfig(**EYE), tf.ViTImageProcessor(size=SQUARE), 17),
    "clip": (tf.CLIPConfig(**TOWERS), tf.CLIPImageProcessor(**CROPPED), 17),
    "siglip": (tf.SiglipConfig(**TOWERS), tf.SiglipImageProcessor(size=SQUARE), 16),
    "dinov2": (tf.Dinov2Config(**EYE), tf.BitImageProcessor(**CROPPED), 17),
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SIMTOWN_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def encoders(tmp_path_factory):
    """A directory of each architecture, with random weights."""
    folder = tmp_path_factory.mktemp("encoders")
    for name, (config, processor, _) in KINDS.items():
        torch.manual_seed(0)
        tf.AutoModel.from_config(config).save_pretrained(folder / name)
        processor.save_pretrained(folder / name)
    return folder


def head(directory, **changes):
    name = f"head:hf:{directory}"
    return replace(SMALL, model=name, options=options(name, {}), **changes)


def cached(tmp_path):
    """The files of the cache, and when each was written."""
    files = sorted((tmp_path / "cache" / "features").rglob("*.npy"))
    return {path: path.stat().st_mtime_ns for path in files}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("h", "w"), [(32, 32), (64, 64), (20, 48)])
def test_a_picture_is_prepared_as_the_encoders_own_processor_would_but_for_the_crop(encoders, kind, h, w):
    y, x = torch.meshgrid(torch.linspace(0, 200, h), torch.linspace(0, 200, w), indexing="ij")
    picture = torch.stack([x, y, (x + y) / 2], dim=-1).round().byte()  # each channel its own
    ours = open_encoder(f"hf:{encoders / kind}").prepare(picture[None])
    whole = {"size": SQUARE, "do_center_crop": False, "input_data_format": "channels_last"}
    wanted = torch.from_numpy(np.stack(KINDS[kind][1]([picture.numpy()], **whole)["pixel_values"]))
    assert (ours - wanted).abs().max() < 1.01 / 255 / 0.22  # a step of a byte, over the least deviation


@pytest.mark.parametrize("kind", KINDS)
def test_features_are_those_of_the_tower_whatever_stands_beside_a_picture(encoders, kind):
    pixels = torch.randint(256, (40, 32, 32, 3), dtype=torch.uint8)
    encoder, model = open_encoder(f"hf:{encoders / kind}"), tf.AutoModel.from_pretrained(encoders / kind)
    seen = encoder.encode(pixels)
    assert (seen.shape, seen.dtype) == ((40, KINDS[kind][2], 16), torch.float16)
    with torch.no_grad():
        tower = getattr(model.eval(), "vision_model", model)
        last = tower(pixel_values=encoder.prepare(pixels)).last_hidden_state
    std, mean = torch.std_mean(last, -1, correction=0, keepdim=True)
    torch.testing.assert_close(seen.float(), (last - mean) / std, atol=2e-3, rtol=2e-3)
    assert torch.equal(torch.cat([encoder.encode(pixels[[i]]) for i in (39, 5, 17)]), seen[[39, 5, 17]])


def test_weights_in_float16_give_features_of_float32(encoders, tmp_path):
    """What an encoder says may be larger than float16 holds."""
    model = tf.ViTModel.from_pretrained(shutil.copytree(encoders / "vit", tmp_path / "half")).half()
    torch.nn.init.constant_(model.layernorm.weight, 60_000)
    model.save_pretrained(tmp_path / "half")
    assert json.loads((tmp_path / "half" / "config.json").read_text())["dtype"] == "float16"
    seen = open_encoder(f"hf:{tmp_path / 'half'}").encode(torch.zeros(2, 32, 32, 3, dtype=torch.uint8))
    assert seen.abs().max() <= 4  # the root of 16 channels


@pytest.mark.parametrize("kind", ["vit", "clip", "dinov2"])
def test_a_run_with_the_cache_is_the_one_without(encoders, data, tmp_path, undrawn, kind):
    settings = head(encoders / kind)
    fit(settings, data, tmp_path / "without", cache=False)
    assert not cached(tmp_path)
    fit(settings, data, tmp_path / "with")
    files = cached(tmp_path)
    fit(settings, data, tmp_path / "again")
    assert cached(tmp_path) == files
    assert len(files) == 3
    assert result(tmp_path / "with") == result(tmp_path / "without") == result(tmp_path / "again")


def test_cached_features_are_fresh_ones(encoders, data, tmp_path, monkeypatch):
    monkeypatch.setattr(kept_features, "BLOCK", 16)
    dataset, encoder = open_dataset(data), open_encoder(f"hf:{encoders / 'vit'}")
    fresh = encoder.encode(torch.from_numpy(dataset.train.images(np.arange(60))))

    def kept(n):
        return np.concatenate(
            kept_features.features_of(dataset, "train", n, encoder, CPU, ProgressCallback())
        )[:n]

    assert np.array_equal(kept(20), fresh[:20])
    assert len(cached(tmp_path)) == 2
    assert np.array_equal(kept(60), fresh)
    assert np.array_equal(kept(60), fresh)


def test_the_encoder_neither_learns_nor_lies_in_the_run(encoders, data, tmp_path, undrawn):
    settings, encoder = head(encoders / "vit"), open_encoder(f"hf:{encoders / 'vit'}")
    before = {name: value.clone() for name, value in encoder.model.state_dict().items()}
    run = fit(replace(settings, options={}), data, tmp_path / "run", cache=False)
    assert all(torch.equal(value, before[name]) for name, value in encoder.model.state_dict().items())
    own = build(settings.model, world(3), settings.options)
    assert run["parameters"] == sum(p.numel() for p in own.parameters())
    assert not any(name.startswith("encoder") for name in own.state_dict())
    assert run["settings"]["options"]["digest"] == encoder.digest


def test_a_run_is_asked_again_but_not_with_another_encoder(encoders, data, tmp_path, undrawn):
    settings = head(shutil.copytree(encoders / "vit", tmp_path / "own"))
    run, place, name = fit(settings, data, tmp_path / "run"), tmp_path / "run", settings.model
    assert evaluate(place, data, CPU, [name])["accuracy"] == run["test"]["accuracy"]
    example = open_dataset(data).test[0]
    Image.fromarray(example.image).save(tmp_path / "test.png")
    yes = predict(place, tmp_path / "test.png", example.question, [name]).yes
    assert yes == pytest.approx(1 / (1 + np.exp(-np.load(place / "test.npz")["logit"][0])), abs=1e-5)
    with pytest.raises(ModelError, match="allow"):
        evaluate(place, data, CPU)
    shutil.copy(encoders / "dinov2" / "preprocessor_config.json", tmp_path / "own")
    with pytest.raises(ModelError, match="has changed"):
        evaluate(place, data, CPU, [name])
    with pytest.raises(ForeignDirectoryError, match="digest"):
        fit(head(tmp_path / "own"), data, place)


def test_it_learns_what_the_features_separate(encoders):
    """Which half is dark? The answer lies in the places, not in their mean."""
    model, rights = build(f"head:clip:{encoders / 'clip'}", world(), {"dropout": 0.0}), []
    adam = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(400):
        batch = noise(world(), 64, seed=step)
        left = (30 + 170 * batch.answer).byte()[:, None, None, None].expand(-1, 32, 16, 3)
        batch.image = as_input(torch.cat([left, 230 - left], dim=2))
        logits = model(batch)
        rights.append(((logits > 0) == (batch.answer > 0.5)).float().mean())
        if len(rights) >= 10 and torch.stack(rights[-10:]).mean() > 0.95:
            return
        adam.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(logits, batch.answer).backward()
        adam.step()
    pytest.fail(f"not learned: {rights[-10:]}")


def test_a_sweep_shares_the_features(encoders, tmp_path, cli, in_this_process):
    name, out = f"head:hf:{encoders / 'siglip'}", tmp_path / "sweep"
    path = preset(tmp_path / "preset.toml", models=(name, "question-only"), sizes=(10, 20))
    words = "sweep", "--preset", path, "--device", "cpu", "--jobs", 1, "--out", out
    assert "allow" in cli(*words).err
    assert cli(*words, "--allow-model", name).code == 0
    assert len(cached(tmp_path)) == 3
    assert len(list((out / "runs").iterdir())) == 4
    assert cli("complexity", out).code == 0


BAD = {"hf:": "hf:ID-OR-DIR", "nothing": "hf:ID-OR-DIR", "hf:./none": "not a directory"}
BAD |= {"clip:{0}/vit": "open it as hf:", "hf:{1}/empty": "config.json", "hf:{1}/blind": "cannot be loaded"}


@pytest.mark.parametrize(("encoder", "words"), BAD.items())
def test_what_is_no_encoder_is_refused_in_one_line(encoders, data, tmp_path, cli, encoder, words):
    (tmp_path / "empty").mkdir()
    blind = shutil.copytree(encoders / "vit", tmp_path / "blind")
    (blind / "preprocessor_config.json").unlink()
    own = "--encoder", encoder.format(encoders, tmp_path), "--out", tmp_path / "run"
    refused = cli("fit", data, "--model", "head", *own)
    assert refused.code != 0
    assert words in refused.err
    assert len(refused.err.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()

"""Models of the hub of Hugging Face are fetched in one place, which says at once if there is no way to it."""

import socket
from pathlib import Path

import pytest

import simtown
from simtown.core import pretrained

pytest.importorskip("transformers")
import huggingface_hub
from huggingface_hub import constants


def encoder(place):
    from simtown.training.encoder import open_encoder

    open_encoder(f"clip:{place}")


def scorer(place):
    from simtown.probes.scorers.opening import open_scorer

    open_scorer(f"hf:{place}", device="cpu")


def vision(place):
    from simtown.vlm.models import open_model
    from simtown.vlm.vlm_settings import VlmSettings

    open_model(f"hf:{place}", VlmSettings(), "cpu")


@pytest.fixture(params=["refuses", "is silent", "is switched off"])
def unreachable(request, monkeypatch):
    """A hub that refuses connections, that takes them and never answers, or that may not be asked."""
    download = huggingface_hub.snapshot_download

    def local(place, local_files_only=False, **options):
        assert local_files_only, "it would be tried again and again"
        return download(place, local_files_only=True, **options)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", local)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", request.param == "is switched off")
    monkeypatch.setattr(pretrained, "_PATIENCE", 0.1)
    with socket.socket() as hub:
        hub.bind(("127.0.0.1", 0))
        if request.param == "is silent":
            hub.listen()
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{hub.getsockname()[1]}")
        yield


@pytest.mark.parametrize("load", [encoder, scorer, vision])
def test_a_hub_that_cannot_be_reached_is_named_at_once(load, unreachable):
    with pytest.raises(FileNotFoundError, match=r"nobody/nothing.*hub"):
        load("nobody/nothing")


@pytest.mark.parametrize("place", ["a/b/c", "a--b", "no such"])
def test_a_name_that_the_hub_cannot_have_is_named(place):
    with pytest.raises(FileNotFoundError, match=place):
        pretrained.model_directory(place, hub=True)


def test_nothing_else_fetches_from_the_hub():
    root = Path(simtown.__file__).parent
    fetching = [path.name for path in root.rglob("*.py") if "huggingface_hub" in path.read_text("utf-8")]
    assert fetching == ["pretrained.py"]

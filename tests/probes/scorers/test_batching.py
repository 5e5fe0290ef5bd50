"""Batches hold every row once and fit their budget; the cache asks once; what cannot be opened is refused."""

import json
import pickle
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtown.core.files import DamagedError
from simtown.core.untrusted import RefusedError
from simtown.probes.scorers import open_scorer
from simtown.probes.scorers.batching import buckets, distinct
from simtown.probes.scorers.cache import Cached
from simtown.probes.scorers.oracle import Oracle
from tests.hostile.marks import Marking

rows = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=9).map(tuple), max_size=30)


@given(rows, st.integers(1, 40), st.booleans())
def test_batches_hold_every_row_once_and_fit(rows, budget, equal):
    batches = list(buckets(rows, budget, equal=equal))
    assert sorted(i for batch in batches for i in batch) == list(range(len(rows)))
    for batch in batches:
        lengths = [len(rows[i]) for i in batch]
        assert len(batch) == 1 or len(batch) * max(lengths) <= budget
        assert not equal or len(set(lengths)) == 1


@given(st.lists(st.integers(0, 5)))
def test_distinct_items_and_where_they_are(items):
    unique, where = distinct(items)
    assert len(set(unique)) == len(unique)
    assert [unique[i] for i in where] == items


class Counting(Oracle):
    """An oracle that remembers what it was asked."""

    def __init__(self):
        super().__init__(
            classes={f"{i} [BLANK]": {"x": 1 / (i + 1)} for i in range(9)},
            texts={f"{i} x": [0.5, 0.1 * i] for i in range(9)},
            vectors={"0": [0.1, 2], "1": [3, 4]},
        )
        self.asked = []

    def class_logprobs(self, contexts, targets):
        self.asked += contexts
        return super().class_logprobs(contexts, targets)

    def sequence_logprobs(self, texts):
        self.asked += texts
        return super().sequence_logprobs(texts)

    def embed(self, texts, *more):
        self.asked += texts
        return super().embed(texts, *more)


@pytest.mark.parametrize("kept", [True, False])
def test_what_was_answered_is_not_asked_again(tmp_path, kept):
    place = tmp_path / "cache" if kept else None
    scorer, plain = Counting(), Oracle.__new__(Counting)
    plain.__init__()
    cached = Cached(scorer, "m", place)
    contexts = ["3 [BLANK]", "1 [BLANK]", "3 [BLANK]"]
    answers = cached.class_logprobs(contexts, ["x", ["x", "y"], "z"])
    np.testing.assert_array_equal(answers, plain.class_logprobs(contexts, ["x", "x", "z"]))
    assert scorer.asked == ["3 [BLANK]", "1 [BLANK]"]
    cached.class_logprobs(["1 [BLANK]", "2 [BLANK]"], ["x", ["x", "y"], "z"])
    assert scorer.asked.pop() == "2 [BLANK]"
    cached.class_logprobs(["1 [BLANK]"], ["x"])  # other targets: another request
    assert scorer.asked.pop() == "1 [BLANK]"
    for _ in range(2):
        kept_texts, texts = (scorer.sequence_logprobs(["1 x", "0 x"]) for scorer in (cached, plain))
        for a, b in zip(kept_texts, texts, strict=True):
            np.testing.assert_array_equal(a.logprobs, b.logprobs)
            np.testing.assert_array_equal(a.words, b.words)
        np.testing.assert_array_equal(cached.embed(["0", "1"]), plain.embed(["0", "1"]))
        np.testing.assert_array_equal(cached.embed(["01"], [(1, 2)]), plain.embed(["1"]))
    assert scorer.asked == ["3 [BLANK]", "1 [BLANK]", "1 x", "0 x", "0", "1", "01"]
    if kept:
        again = Counting()
        np.testing.assert_array_equal(Cached(again, "m", place).embed(["0", "1"]), plain.embed(["0", "1"]))
        assert not again.asked
        Cached(again, "another model", place).embed(["0"])
        assert again.asked == ["0"]


def test_a_damaged_cache_is_named(tmp_path):
    (tmp_path / "answers.sqlite").write_text("no database at all, but long enough to be read as one")
    with pytest.raises(DamagedError, match=r"answers\.sqlite"):
        Cached(Counting(), "m", tmp_path)


def test_a_models_answers_are_kept_by_its_content_and_settings(model, tmp_path):
    copy = Path(shutil.copytree(model("bert"), tmp_path / "copy"))
    ask = {"contexts": ["a [BLANK] bus"], "targets": ["turquoise"]}
    first = open_scorer(f"hf:{model('bert')}", cache=tmp_path / "cache").class_logprobs(**ask)

    def kept():
        with closing(sqlite3.connect(tmp_path / "cache" / "answers.sqlite")) as database:
            return database.execute("SELECT count(*) FROM answers").fetchone()[0]

    second = open_scorer(f"hf:{copy}", cache=tmp_path / "cache").class_logprobs(**ask)
    np.testing.assert_array_equal(second, first)
    assert kept() == 1
    open_scorer(f"hf:{copy}", cache=tmp_path / "cache", policy="joint").class_logprobs(**ask)
    assert kept() == 2


CLOSED = [(f"{kind}:{name}", {}, name) for kind, name in (("lstm", "nowhere"), ("glove", "nowhere.txt"))]
CLOSED += [("gpt:x", {}, "gpt:x"), ("hf:/nowhere/at/all", {}, "/nowhere"), ("hf:x y", {}, "x y")]
CLOSED += [("ngram:x", {"policy": "last"}, "policy"), ("hf:.", {"device": "abacus"}, "device")]


@pytest.mark.parametrize(("spec", "more", "named"), CLOSED)
def test_what_cannot_be_opened_is_named(spec, more, named):
    with pytest.raises((ValueError, FileNotFoundError), match=named):
        open_scorer(spec, **more)


OWN_CODE = {"model_type": "none", "auto_map": {"AutoConfig": "evil.C"}, "trust_remote_code": True}


@pytest.mark.parametrize(
    ("kind", "opened", "changes", "error", "named"),
    [
        ("encoder", "hf", {"architectures": ["BertForMaskedLM"]}, ValueError, "lacks"),
        ("bert", "hf", {"is_encoder_decoder": True}, ValueError, "encoder-decoder"),
        ("bert", "lstm", {}, ValueError, "LSTM"),
        ("bert", "clip", {}, ValueError, "CLIP"),
        ("bert", "sentence", {}, FileNotFoundError, "modules.json"),
        ("bert", "hf", OWN_CODE, RefusedError, "code"),
        ("bert", "hf", {"attn_implementation": "a/b"}, RefusedError, "config.json"),
        ("bert", "hf", None, DamagedError, "config.json"),
    ],
)
def test_models_that_are_not_what_they_should_be(model, tmp_path, kind, opened, changes, error, named):
    copy = Path(shutil.copytree(model(kind), tmp_path / "copy"))
    config = json.loads((copy / "config.json").read_text())
    (copy / "config.json").write_text("{" if changes is None else json.dumps(config | changes))
    with pytest.raises(error, match=named):
        open_scorer(f"{opened}:{copy}")


def test_weights_that_are_cut_short_or_elsewhere(model, tmp_path):
    copy = Path(shutil.copytree(model("bert"), tmp_path / "copy"))
    weights = (copy / "model.safetensors").rename(tmp_path / "model.safetensors").read_bytes()
    (copy / "model.safetensors.index.json").write_text('{"weight_map": {"x": "../model.safetensors"}}')
    with pytest.raises(RefusedError, match=r"model\.safetensors"):
        open_scorer(f"hf:{copy}")
    (copy / "model.safetensors.index.json").unlink()
    (copy / "pytorch_model.bin").write_bytes(pickle.dumps(Marking(tmp_path / "mark")))
    with pytest.raises(DamagedError):
        open_scorer(f"hf:{copy}")
    assert not (tmp_path / "mark").exists()
    (copy / "pytorch_model.bin").rename(copy / "adapter_config.json")
    with pytest.raises(RefusedError, match="adapter"):
        open_scorer(f"hf:{copy}")
    (copy / "adapter_config.json").unlink()
    for content, named in ((weights[:-100], "cannot be loaded"), (b"version https://git-lfs", "Git LFS")):
        (copy / "model.safetensors").write_bytes(content)
        with pytest.raises((DamagedError, RefusedError), match=named):
            open_scorer(f"hf:{copy}")

"""Soft prompts and distillation on tiny models."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import tokenizers
import torch
import transformers

from simtown.probes import elicit
from simtown.probes.scorers import open_scorer
from simtown.probes.scorers.spelling import BLANK
from simtown.probes.visual import DistillSettings, distill, soft_prompts
from simtown.probes.visual.classes import RELATIONS
from tests.probes import tiny
from tests.probes.tiny import MASKED, MIXING, redrawn
from tests.probes.visual.world import SUBJECTS, TEMPLATES


def _bert(path, seed):
    """A BERT of two layers of 32 with the small world's words, untrained."""
    sentences = [*SUBJECTS, *(t for templates in TEMPLATES.values() for t in templates), "this the a"]
    words = {word for sentence in sentences for word in sentence.split() if not word.startswith("[")}
    words |= {word for r in RELATIONS.values() for several in r.words.values() for word in several}
    names = ("pad", "unk", "cls", "sep", "mask")
    special = {f"{name}_token": f"[{name.upper()}]" for name in names}
    vocabulary = {word: i for i, word in enumerate([*special.values(), *sorted(words)])}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    made.post_processor = tokenizers.processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, **special)
    config = transformers.BertConfig(vocab_size=len(vocabulary), **{**tiny.SMALL, "hidden_size": 32})
    tiny.redrawn(transformers.BertForMaskedLM(config), seed, 0.2).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    return _bert(tmp_path_factory.mktemp("bert") / "a", 0)


@pytest.fixture(scope="session")
def teacher(tmp_path_factory):
    return _bert(tmp_path_factory.mktemp("bert") / "b", 1)


@pytest.mark.parametrize("deep", [False, True])
def test_untuned_prompts_say_what_the_model_says(bert, release, deep):
    """Zero offsets are the words themselves: the mixture is the average template."""
    data = release.dataset("color")
    scorer = open_scorer(f"hf:{bert}", policy="first")
    mixture = soft_prompts.Mixture(soft_prompts.masked_of(scorer), data, deep)
    by_template = elicit.by_template(scorer, data.templates, data.subjects, data.words, "paper")
    expected = elicit.averaged(by_template, "paper")
    assert soft_prompts.said(mixture, np.arange(len(expected))) == pytest.approx(expected, abs=1e-4)


PROMPTS = ["[X] is [Y] .", "the [X] is [Y].", "[Y] [X]", "a [Y] bus is behind the [X] ."]


@pytest.mark.parametrize("kind", MASKED)
@pytest.mark.parametrize("template", PROMPTS)
def test_prompts_are_the_texts_that_are_asked(kind, template, model):
    """Subjects first in a text and behind a space, known and unknown ones."""
    scorer = soft_prompts.masked_of(open_scorer(f"hf:{model(kind)}"))
    subjects = ["banana", "red bus", "worn-out coat", "bus 東京"]
    these = soft_prompts.rows(scorer, template, subjects)
    gaps = scorer._gaps([elicit.fill(template, subject, BLANK) for subject in subjects])
    for ids, real, at, own, (before, after) in zip(*these, gaps, strict=True):
        assert ids[real.bool()].tolist() == [*before, scorer.tokenizer.mask_token_id, *after]
        assert int(at) == len(before)
        of_template = scorer.tokenizer.decode(ids[own])  # offsets stand at the template's words alone
        assert re.sub(r"\W", "", of_template) == re.sub(r"\[.\]|\W", "", template)


@pytest.mark.parametrize("kind", MIXING)
@pytest.mark.parametrize("deep", [False, True])
def test_prompts_do_not_see_each_others_padding(kind, deep, model, release):
    scorer = soft_prompts.masked_of(open_scorer(f"hf:{model(kind)}"))
    subjects = ["banana", "a turquoise bus", "sky"]
    data = replace(release.dataset("color"), subjects=subjects, templates=("the [X] is [Y] .",))
    mixture = soft_prompts.Mixture(scorer, data, deep)
    together = soft_prompts.said(mixture, np.arange(3))
    alone = [soft_prompts.said(mixture, np.array([i]))[0] for i in range(3)]
    assert together == pytest.approx(np.array(alone), abs=1e-4)


@pytest.mark.parametrize("deep", [False, True])
def test_tuning_learns_and_leaves_the_model_alone(bert, release, deep, tmp_path, monkeypatch):
    """Where every subject has one color, prompts learn to say it of subjects that were held out."""
    for name, value in (("LEARNING_RATE", 0.2), ("EPOCHS", 30), ("PATIENCE", 30)):
        monkeypatch.setattr(soft_prompts, name, value)
    data = release.dataset("color")
    data = replace(data, gold=np.full_like(data.gold, 3))
    scorer = open_scorer(f"hf:{bert}")
    before = {k: v.clone() for k, v in soft_prompts.masked_of(scorer).model.state_dict().items()}
    one, notes = soft_prompts.tune(scorer, data, 0, deep, tmp_path / "color.safetensors")
    assert min(notes["held_out_loss"]) < 0.75 * notes["held_out_loss"][0]
    assert sum(notes["weights"].values()) == pytest.approx(1)
    assert (tmp_path / "color.safetensors").stat().st_size > 0
    assert one.scores.shape == (len(data.test), 12)
    after = soft_prompts.masked_of(scorer).model.state_dict()
    assert all(torch.equal(before[k], after[k]) for k in before)
    again, _ = soft_prompts.tune(open_scorer(f"hf:{bert}"), data, 0, deep)
    assert again.scores == pytest.approx(one.scores, abs=1e-4)


def test_tuned_command(cli, bert, small, tmp_path):
    out = tmp_path / "out"
    words = ("probe", "visual", "--data", small, "--as", "tuned", "--task", "shape")
    cli(*words, "--model", f"hf:{bert}", "--out", out).succeeds()
    content = json.loads((out / "summary.json").read_text())
    assert "tuned" in content["tasks"]["shape"]["modes"]
    cli("probe", "reproduce", "vicomte-table3", "--data", small, "--with", out).succeeds()
    corpus = tmp_path / "c.txt"
    corpus.write_text("red round wood car\n")
    cli(*words, "--model", f"ngram:{corpus}", "--out", tmp_path / "o").refuses("masked language model")


def test_divergence_is_torchs():
    a, b = (torch.from_numpy(np.random.default_rng(seed).normal(size=(3, 4, 7))) for seed in (0, 1))
    real = torch.ones(3, 4)
    one, other = a.log_softmax(-1), b.log_softmax(-1)
    expected = torch.nn.functional.kl_div(other, one, log_target=True, reduction="batchmean")
    assert float(distill.divergence(a, b, real)) == pytest.approx(float(expected))
    assert float(distill.divergence(a, a, real)) == pytest.approx(0, abs=1e-9)


def test_a_student_comes_to_say_what_its_teacher_says(cli, bert, teacher, tmp_path):
    corpus = tmp_path / "corpus.txt"
    colors, rng = RELATIONS["color"].classes, np.random.default_rng(0)
    corpus.write_text("".join(f"{s} has color {colors[rng.integers(12)]} .\n" for s in SUBJECTS * 20))
    out = tmp_path / "student"
    words = ("probe", "visual", "distill", corpus, "--student", f"hf:{bert}", "--out", out)
    words = (*words, "--teacher", f"hf:{teacher}")
    cli(*words, "--lr", "0.003", "--epochs", "8", "--batch", "32").succeeds()
    content = json.loads((out / "distill.json").read_text())
    assert content["divergence_last"] < 0.75 * content["divergence_first"]
    asked = [f"{s} has color {BLANK} ." for s in SUBJECTS]
    scorers = (open_scorer(f"hf:{path}") for path in (bert, out, teacher))
    old, new, goal = (scorer.class_logprobs(asked, list(colors)) for scorer in scorers)
    assert np.abs(new - goal).mean() < 0.75 * np.abs(old - goal).mean()
    cli(*words).refuses("another")


def test_distilling_does_not_see_padding(model, tmp_path):
    """Three sentences of three lengths teach the same in one batch as alone."""
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the sky is blue\nthe grass is green and the sky is blue\nthe red bus stands here\n")
    divergences = []
    for batch in (1, 3):
        teacher, student = (open_scorer(f"hf:{model('fnet')}") for _ in range(2))
        learning = soft_prompts.masked_of(student).model
        redrawn(learning, 2, 0.3)
        for module in learning.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        settings = DistillSettings(batch=batch, learning_rate=1e-12)
        content = distill.distill(teacher, student, corpus, tmp_path / f"student{batch}", settings)
        divergences.append(content["divergence_first"])
    assert divergences[0] == pytest.approx(divergences[1], rel=1e-4)


def test_distill_refusals(cli, bert, tmp_path):
    other = _bert(tmp_path / "other", 0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(other)
    tokenizer.add_tokens(["zebra"])
    tokenizer.save_pretrained(other)
    empty = tmp_path / "empty.txt"
    empty.write_text("\n")
    words = ("probe", "visual", "distill", empty, "--student", f"hf:{bert}", "--out", tmp_path / "s")
    cli(*words, "--teacher", f"hf:{other}").refuses("different vocabularies")
    cli(*words, "--teacher", f"hf:{bert}").refuses("no text")
    cli(*words, "--teacher", f"hf:{bert}", "--epochs", "0").refuses("epochs")

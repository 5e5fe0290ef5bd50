"""Every way to use a model, on models that know the small world, or know nothing."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs torch: pip install '.[probes]'")

from simtown.probes.physical import models, tasks, yesno
from simtown.probes.physical.models import PhysicalSettings
from simtown.probes.physical.study import PHYSICAL
from simtown.probes.scorers.base import UnableError
from simtown.probes.study import ScorerOptions, TaskRequest
from tests.probes.physical.world import Truthful


def _steps(count):
    return lambda more: None


@pytest.mark.parametrize(("which", "name"), [("abstract", "OP"), ("situated", "OP"), ("situated", "OA")])
@pytest.mark.parametrize("use", ["sentence", "yes-no"])
def test_who_knows_is_right(release, which, name, use):
    """Not in AP, where the same pair is so of one object and not of another."""
    task = tasks.build(release, which, name)
    judged = models.judge(
        release, task, PhysicalSettings("lstm:truthful", use, "logistic"), Truthful(), _steps
    )
    assert np.array_equal(judged.said, task.test.label)


def test_tokens_are_looked_up_where_they_stand(release):
    task = tasks.build(release, "situated", "OA")
    scorer = Truthful()
    models.judge(release, task, PhysicalSettings("lstm:truthful", "tokens", "logistic"), scorer, _steps)
    assert {"bat", "scissors", "ate", "fed"} <= set(scorer.spans)


def test_unknown_words_are_counted_and_stood_in_for(release):
    task = tasks.build(release, "situated", "OP")
    notes = {}
    for protocol in ("release", "corrected"):
        judged = models.judge(
            release,
            task,
            PhysicalSettings("glove:x", "words", "logistic", protocol),
            Truthful(("bat", "tool", "edible")),
            _steps,
        )
        notes[protocol] = judged.notes["unknown"]
        pairs = models.Pairs.of(task)
        inputs, _ = models.features.words(
            release, task, pairs, Truthful(("bat", "tool", "edible")), models.PROTOCOLS[protocol].unknown
        )
        tool, edible = (inputs.tables[1][task.rights.index(p)] for p in ("a_tool", "edible"))
        assert np.array_equal(tool, edible) is (protocol == "release")
        assert (not tool.any()) is (protocol == "release")
    assert notes["release"] == notes["corrected"]
    assert notes["release"] == {
        "object": {"of": 12, "words": ["bat"]},
        "property": {"of": 6, "words": ["tool", "edible"]},
    }


def test_a_stand_in_is_the_same_in_every_task(release):
    found = []
    for name in ("OP", "OA"):
        task = tasks.build(release, "situated", name)
        inputs, _ = models.features.words(release, task, models.Pairs.of(task), Truthful(("bat",)), "random")
        vector = inputs.tables[0][task.lefts.index("baseball_bat")]
        found.append(vector / np.linalg.norm(vector))
    assert found[0] == pytest.approx(found[1], abs=1e-6)


class Mute(Truthful):
    name = "hf:mute"
    abilities = frozenset()


class Lost(Truthful):
    name = "hf:lost"

    def word_vector(self, word):
        return None

    def class_logprobs(self, contexts, targets):
        return np.full((len(contexts), 2), np.nan)


@pytest.mark.parametrize(
    ("use", "scorer", "error", "words"),
    [
        ("words", Mute(), UnableError, "no vectors of single words"),
        ("tokens", Mute(), UnableError, "no vectors of text"),
        ("sentence", Mute(), UnableError, "no vectors of text"),
        ("yes-no", Mute(), UnableError, "answers no question"),
        ("yes-no", Lost(), UnableError, "no probability to yes or no"),
        ("words", Lost(), ValueError, "knows none of the"),
    ],
)
def test_what_a_model_cannot_do_is_said(release, use, scorer, error, words):
    with pytest.raises(error, match=words):
        models.judge(
            release,
            tasks.build(release, "abstract", "OP"),
            PhysicalSettings(scorer.name, use),
            scorer,
            _steps,
        )


def test_the_threshold_is_the_best_of_all():
    random = np.random.default_rng(0)
    for _ in range(30):
        label = random.random(20) < 0.4
        odds = np.round(random.normal(size=20) + label, 1)
        if not label.any():
            continue
        cut = yesno.threshold(odds, label)

        def value(c, odds=odds, label=label):
            said = odds > c
            return 2 * (said & label).sum() / max(said.sum() + label.sum(), 1)

        assert value(cut) == pytest.approx(max(value(c) for c in [*(odds - 0.05), odds.max() + 1]))


def test_tuning_is_noted_with_both_kinds_of_folds(release):
    task = tasks.build(release, "situated", "OP")
    progress = []

    def steps(count):
        progress.append(count)
        return progress.append

    judged = models.judge(
        release, task, PhysicalSettings("lstm:x", "sentence", "logistic", tune=True), Truthful(), steps
    )
    assert set(judged.notes["tuning"]) == {"rows", "objects"}
    assert judged.notes["head"] == judged.notes["tuning"]["objects"][0]["head"]
    assert progress[0] == sum(progress[1:])  # as many steps as were announced


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A BERT of random weights that knows the letters."""
    transformers = pytest.importorskip("transformers", reason="needs transformers: pip install '.[probes]'")
    from tests.probes.tiny import redrawn

    folder = tmp_path_factory.mktemp("bert")
    letters = "abcdefghijklmnopqrstuvwxyz.,?"
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)])
    )
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=70, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    redrawn(transformers.BertForMaskedLM(config), 0, 0.02).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("protocol", ["paper", "release", "corrected"])
def test_fine_tuning_runs_with_each_loss(release, tiny, protocol):
    task = tasks.build(release, "situated", "OP")
    progress = []

    def steps(count):
        progress.append(count)
        return progress.append

    judged = models.judge(
        release, task, PhysicalSettings(f"hf:{tiny}", "finetune", protocol=protocol), None, steps
    )
    assert judged.notes["head"]["loss"] == ("squared" if protocol == "paper" else "cross-entropy")
    assert progress[0] == sum(progress[1:])
    assert ((judged.score > 0) & (judged.score < 1)).all()


def test_fine_tuning_runs_where_it_is_told(release, tiny, monkeypatch):
    """Without computing: what fine-tuning receives."""
    from simtown.probes.physical import finetune

    received = []

    def fit(place, texts, pair, label, settings, seed, progress, device):
        received.append(device)
        return np.zeros(len(texts))

    def ask(**options):
        settings = PhysicalSettings(f"hf:{tiny}", "finetune")
        request = TaskRequest(
            "situated-OP", release, settings, tiny, lambda: None, options=ScorerOptions(**options)
        )
        return PHYSICAL.ask(request)

    with monkeypatch.context() as patch:
        patch.setattr(finetune, "fit", fit)
        for device in ("cpu", "cuda"):
            ask(device=device)
    assert received == ["cpu", "cuda"]
    with pytest.raises(ValueError, match="unknown device 'abacus'"):
        ask(device="abacus")
    with pytest.raises(ValueError, match="float32: leave out `dtype=bfloat16`"):
        ask(dtype="bfloat16")


def test_fine_tuning_does_not_see_padding(model):
    from simtown.probes.physical import finetune

    texts = ["the sky is blue", "the grass is green and the sky is blue", "a bus"]
    settings, nothing = finetune.FineTuning(epochs=0), np.zeros(0, dtype=np.int64)

    def said(chosen):
        return finetune.fit(
            str(model("fnet")), chosen, nothing, nothing == 1, settings, 0, lambda more: None, "cpu"
        )

    alone = [said([text])[0] for text in texts]
    assert said(texts) == pytest.approx(alone, abs=1e-5)


def test_fine_tuning_learns(release, tiny):
    """The same few sentences with opposite labels end up on opposite sides."""
    from simtown.probes.physical import finetune

    texts = ["a lemon is edible.", "a kettle is edible.", "a dog flies."]
    pair, label = np.tile([0, 1, 2], 64), np.tile([True, False, False], 64)
    settings = finetune.FineTuning(epochs=30, learning_rate=5e-3)
    said = finetune.fit(str(tiny), texts, pair, label, settings, 0, lambda more: None)
    assert (said > 0.5).tolist() == [True, False, False]

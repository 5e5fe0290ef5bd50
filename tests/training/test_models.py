"""The models: sizes of section 6.5, the labelled convolution, losses and gradients; and docs/models.md."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from simtown.language.words.questions import vocabulary
from simtown.training.fit import loss_of
from simtown.training.models import (
    MODELS,
    ModelError,
    build,
    find,
    finds_boxes,
    options,
)
from simtown.training.models.film import FilmBlock
from simtown.training.models.layers import with_coordinates
from simtown.training.models.pbn import LabelledConvolution
from simtown.training.models.transformer import transformer
from simtown.training.world import Batch, World
from tests.training.towns import HERE, noise, world

HIDDEN = [128, 100, 50, 25, 25, 4]
#: The filters of the paper's models, and of the two that differ from them in box supervision.
FILTERS = {"pbn": [32, 64, 64], "pbn-no-boxes": [32, 64, 64]}
FILTERS |= {"cnn-lstm": [20, 50, 100], "cnn-lstm-boxes": [20, 50, 100]}
PAPERS = list(FILTERS)
#: Those that see the picture and read the words, and nothing else.
#: The CNN-LSTM for parts of sequences: of a single picture it is itself.
CONTROLS = ["order-blind", "one-picture"]
LOOKERS = ["cnn-lstm", "cnn-lstm-boxes", "film", "relation-network", "vit"]


def make(name, seed=0, sizes=None, **chosen):
    torch.manual_seed(seed)
    return build(name, sizes or world(), chosen)


def double(batch):
    """The same examples in float64."""
    return Batch(*(v.double() if v.is_floating_point() else v for v in vars(batch).values()))


def exact(name, b=8, **chosen):
    """A fresh model and examples for it in float64, whose rounding is too small to matter."""
    return make(name, **chosen).double().eval(), double(noise(world(), b))


def differ(one, other):
    """Which numbers of two float64 tensors differ by more than rounding."""
    return (one - other).abs() > 1e-9


@given(st.tuples(*(st.integers(1, most) for most in (13, 13, 3, 4, 5, 6))), st.integers(0, 99))
def test_the_short_form_is_the_plain_one_in_value_and_gradient(sizes, seed):
    height, width, slots, b, embedding, filters = sizes
    torch.manual_seed(seed)
    look = LabelledConvolution(embedding, filters, height, width).double()
    image = torch.randn(b, 3, height, width, dtype=torch.float64, requires_grad=True)
    labels = torch.randn(slots, b, embedding, dtype=torch.float64, requires_grad=True)
    seen, label = look(image, labels)
    short = label.add_to(seen)
    channels = labels.flatten(0, 1)[:, :, None, None].expand(-1, -1, height, width)
    plain = look.conv(torch.cat([image.repeat(slots, 1, 1, 1), channels], dim=1))  # as the paper draws it
    assert short.shape == (slots * b, filters, (height + 1) // 2, (width + 1) // 2)
    torch.testing.assert_close(short, plain)
    pull = torch.randn_like(plain)
    wanted = (look.conv.weight, image, labels)
    ours, theirs = (torch.autograd.grad(form, wanted, pull) for form in (short, plain))
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("learns", [True, False])
def test_attention_by_plain_products_is_pytorchs(learns):
    torch.manual_seed(0)
    encoder, tokens = transformer(8, 2, 0.0), torch.randn(3, 5, 8, requires_grad=True)
    padding = torch.arange(5) >= torch.tensor([[5], [3], [4]])
    wanted = (tokens, *encoder.parameters())
    with torch.set_grad_enabled(learns):
        reads = (type(encoder).forward, nn.TransformerEncoder.forward)
        ours, theirs = (read(encoder, tokens, src_key_padding_mask=padding)[~padding] for read in reads)
    torch.testing.assert_close(ours, theirs)
    if learns:
        one, other = (torch.autograd.grad(read.sin().sum(), wanted) for read in (ours, theirs))
        torch.testing.assert_close(one, other)


def filters_of(model):
    return [m.out_channels for m in model.modules() if isinstance(m, nn.Conv2d)]


@pytest.mark.parametrize("name", PAPERS)
def test_the_convolutions_are_those_of_the_paper(name):
    filters = FILTERS[name]
    convolutions = [m for m in make(name).modules() if isinstance(m, nn.Conv2d)]
    assert [c.out_channels for c in convolutions] == filters
    assert {(c.kernel_size, c.stride) for c in convolutions} == {((3, 3), (2, 2))}
    assert [c.in_channels for c in convolutions][1:] == filters[:-1]
    assert filters_of(make(name, width=0.5)) == [f // 2 for f in filters]
    kinds = [m for m in make(name).modules() if isinstance(m, (nn.BatchNorm2d, nn.Dropout, nn.Dropout2d))]
    assert [type(m) is nn.BatchNorm2d for m in kinds] == [True, False] * 3
    assert [m.num_features for m in kinds[::2]] == filters


#: Units after those of the paper's perceptron.
AFTER = {"pbn": [32, 32, 1], "pbn-no-boxes": [32, 32, 1]}
AFTER |= {"cnn-lstm": [1], "cnn-lstm-boxes": [1, 8], "question-only": [1]}


@pytest.mark.parametrize(("name", "after"), AFTER.items())
def test_the_perceptron_on_top_is_that_of_the_paper(name, after):
    assert [m.out_features for m in make(name).modules() if isinstance(m, nn.Linear)] == HIDDEN + after


@pytest.mark.parametrize("name", [name for name in MODELS if "width" in options(name, {})])
def test_width_and_hidden_set_the_sizes(name):
    def size(**chosen):
        return sum(p.numel() for p in make(name, **chosen).parameters())

    assert size(width=0.5) < size() < size(width=1.5)
    if "lstm" in name:
        (lstm,) = [m for m in make(name, hidden=64).modules() if isinstance(m, nn.LSTM)]
        assert (lstm.hidden_size, lstm.num_layers, lstm.bidirectional) == (64, 1, False)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("width", "height", "b"), [(32, 32, 1), (17, 33, 3), (256, 64, 2)])
def test_any_picture_and_batch_size_can_be_learned_from(name, width, height, b):
    sizes = world(width=width, height=height)
    loss, logits = loss_of(make(name, sizes=sizes).train(), noise(sizes, b))
    loss.backward()
    assert logits.shape == (b,)
    assert loss.isfinite()


def test_the_slots_share_their_weights():
    model, batch = exact("pbn")
    boxes = model.boxes(batch)
    batch.subject, batch.object = batch.object, batch.subject
    torch.testing.assert_close(model.boxes(batch), boxes.flip(0))
    assert differ(boxes[0], boxes[1]).any()


def test_a_box_depends_on_the_picture_and_its_own_entity_alone():
    model, batch = exact("pbn")
    boxes = model.boxes(batch)
    batch.object, batch.relation = (batch.object + 1) % 5, (batch.relation + 1) % 4
    batch.tokens = batch.tokens * 0
    other = model.boxes(batch)
    torch.testing.assert_close(other[0], boxes[0])
    assert differ(other[1], boxes[1]).any(-1).all()
    batch.image = batch.image.flip(0)
    assert differ(model.boxes(batch)[0], boxes[0]).any(-1).all()


#: The fields of a batch that a model's answer depends on. Nobody may read the answer.
READS = {
    **{name: {"image", "tokens"} for name in (*LOOKERS, *CONTROLS)},
    **{name: {"image", "subject", "relation", "object"} for name in ("pbn", "pbn-no-boxes")},
    "question-only": {"tokens"},
    "picture-only": {"image"},
    "true-boxes": {"tokens", "boxes", "subject", "object"},
}


@pytest.mark.parametrize("name", MODELS)
def test_an_answer_depends_on_what_the_model_is_given_and_on_nothing_else(name):
    model, batch = exact(name)
    logits, read = model(batch), set()
    for field, value in vars(batch).items():
        other = {"answer": 1 - value, "relation": (value + 1) % 3}.get(field, value.roll(1, 0))
        if differ(model(Batch(**{**vars(batch), field: other})), logits).any():
            read.add(field)
    assert read == READS[name]


def test_controls_of_sequences_ignore_the_order_or_other_pictures():
    sizes = replace(world(), pictures=3)
    batch = noise(sizes)
    batch.image = torch.cat([noise(sizes, seed=seed).image for seed in range(3)], dim=1)
    parts = batch.image.unflatten(1, (3, 3))
    for name, chosen, same in (("order-blind", {}, [2, 0, 1]), ("one-picture", {"picture": 2}, [2, 1, 0])):
        model = make(name, sizes=sizes, **chosen).eval()
        logits = model(batch)
        other = Batch(**{**vars(batch), "image": parts[:, same].flatten(1, 2)})
        torch.testing.assert_close(model(other), logits)
    aware = make("cnn-lstm", sizes=sizes).eval()
    assert differ(aware(Batch(**{**vars(batch), "image": parts.flip(1).flatten(1, 2)})), aware(batch)).any()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_in_evaluation_always_says_the_same_of_an_example_whatever_stands_beside_it(name):
    model, batch = exact(name)
    logits = model(batch)
    assert torch.equal(model(batch), logits)
    alone = Batch(**{field: value[2:3] for field, value in vars(batch).items()})
    torch.testing.assert_close(model(alone), logits[2:3])


@pytest.mark.parametrize("name", MODELS)
def test_the_loss_reaches_every_parameter(name):
    model, batch = exact(name, 32)
    loss_of(model.train(), batch)[0].backward()
    unmoved = [part for part, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
    assert unmoved == []


@pytest.mark.parametrize("name", ["vit", "true-boxes", "film", "relation-network"])
def test_no_model_reads_padding(name):
    """What stands at a place without a word does not count: neither its embedding nor how many there are."""
    model, batch = exact(name)
    logits = model(batch)
    embedding = (model.read if hasattr(model, "read") else model.question).embed
    with torch.no_grad():
        embedding.weight[0] += 1
    torch.testing.assert_close(model(batch), logits)


def test_true_boxes_do_not_tell_which_vehicle_is_the_subject():
    model, batch = exact("true-boxes", 32)
    logits = model(batch)
    swapped = {"boxes": batch.boxes.flip(1), "subject": batch.object, "object": batch.subject}
    torch.testing.assert_close(model(Batch(**{**vars(batch), **swapped})), logits)
    assert differ(model(Batch(**{**vars(batch), "boxes": batch.boxes.flip(1)})), logits).any()


def test_a_relation_network_takes_the_mean_over_all_pairs_of_cells():
    model = make("relation-network").double().eval()
    cells, question = torch.randn(2, 6, 66, dtype=torch.float64), torch.randn(2, 128, dtype=torch.float64)
    together = model.pairs(cells, question)
    torch.testing.assert_close(model.pairs(cells[:, torch.randperm(6)], question), together)
    # the paper's way: a layer over one cell, the other and the question, for one pair after the other
    weight = torch.cat([model.first.weight, model.second.weight, model.asked.weight], dim=1)
    for b in range(2):
        pairs = [torch.cat([one, other, question[b]]) for one in cells[b] for other in cells[b]]
        related = [model.relate(weight @ pair + model.first.bias) for pair in pairs]
        torch.testing.assert_close(torch.stack(related).mean(0), together[b])


def test_a_film_block_by_hand():
    torch.manual_seed(0)
    block = FilmBlock(3).double().eval()
    block.norm.running_mean.uniform_(-1, 1)
    block.norm.running_var.uniform_(0.5, 2)
    x, scale, shift = torch.randn(2, 3, 4, 5).double(), torch.randn(2, 3).double(), torch.randn(2, 3).double()
    entering = torch.einsum("oc,bchw->bohw", block.enter.weight[:, :, 0, 0], with_coordinates(x))
    entered = torch.relu(entering + block.enter.bias[:, None, None])
    maps = nn.functional.conv2d(entered, block.conv.weight, padding=1)
    mean = block.norm.running_mean[:, None, None]
    spread = (block.norm.running_var + block.norm.eps).sqrt()[:, None, None]
    modulated = scale[..., None, None] * ((maps - mean) / spread) + shift[..., None, None]
    torch.testing.assert_close(block(x, scale, shift), entered + modulated.clamp(min=0))


def test_a_patch_of_the_vit_is_seen_where_it_lies_and_nowhere_else(monkeypatch):
    model, batch = exact("vit", 1)
    seen = []
    monkeypatch.setattr(model.encode, "forward", lambda tokens, **_: seen.append(tokens) or tokens)
    model(batch)
    batch.image = batch.image.clone()
    batch.image[:, :, 8:16, 24:32] += 1  # the second row's last patch of 4 × 4
    model(batch)
    assert differ(*seen).any(-1)[0].nonzero().flatten().tolist() == [1 + 4 + 3]


@pytest.mark.parametrize("name", ["pbn", "cnn-lstm-boxes"])
@pytest.mark.parametrize("weight", [0.0, 1.0, 30.0])
def test_the_joint_loss_by_hand(name, weight):
    model, batch = exact(name, 16, box_weight=weight)
    loss, logits = loss_of(model, batch)
    z, y = logits.detach().numpy(), batch.answer.numpy()
    p = 1 / (1 + np.exp(-z))
    right = -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()
    off = np.abs(model.boxes(batch).detach().numpy().transpose(1, 0, 2) - batch.boxes.numpy())
    near = np.where(off < 1, off**2 / 2, off - 0.5).mean()
    assert loss.item() == pytest.approx(right + weight * near, rel=1e-5)
    torch.testing.assert_close(logits, model(batch))


@pytest.mark.parametrize("name", [*PAPERS, *LOOKERS[2:]])
def test_true_boxes_teach_only_those_who_are_told_them(name):
    grads = []
    for shift in (0.0, 0.5):
        model, batch = exact(name)
        batch.boxes = batch.boxes + shift
        loss_of(model, batch)[0].backward()
        grads.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
    assert bool(differ(*grads).any()) is (name in ("pbn", "cnn-lstm-boxes"))


@pytest.mark.parametrize(("plain", "told"), [("cnn-lstm", "cnn-lstm-boxes"), ("pbn-no-boxes", "pbn")])
def test_two_by_two_differ_in_what_they_are_told_alone(plain, told):
    """The same weights from the same seed, the same logits; only a box layer may be more."""
    one, other, batch = make(plain).eval(), make(told).eval(), noise(world())
    weights = other.state_dict()
    assert all(torch.equal(value, weights[name]) for name, value in one.state_dict().items())
    more = {"locate.weight", "locate.bias"} if told == "cnn-lstm-boxes" else set()
    assert set(weights) - set(one.state_dict()) == more
    torch.testing.assert_close(one(batch), other(batch))


def test_boxes_are_shown_by_those_alone_who_were_taught_them():
    assert {name for name in MODELS if finds_boxes(make(name))} == {"pbn", "cnn-lstm-boxes"}
    assert not finds_boxes(make("pbn", box_weight=0.0))


SLOW = ("pbn-no-boxes", "cnn-lstm-boxes", "vit", "true-boxes")
SLOW_BY_HEART = [pytest.param(name, marks=pytest.mark.slow) for name in SLOW]


@pytest.mark.parametrize("name", ["pbn", "cnn-lstm", "film", "relation-network", *SLOW_BY_HEART])
def test_one_batch_can_be_learned_by_heart(name):
    """Every answer is right, and the loss a tenth of a fresh model's: in some 120 steps on most machines."""
    sizes = world(width=16, height=16)
    batch = noise(sizes, 32)
    model = make(name, sizes=sizes, dropout=0.0).train()
    adam = torch.optim.Adam(model.parameters(), lr=3e-3)
    first = loss_of(model, batch)[0].item()
    for _ in range(1_500):
        loss, logits = loss_of(model, batch)
        if loss.item() < first / 10 and ((logits > 0) == (batch.answer > 0.5)).all():
            return
        adam.zero_grad()
        loss.backward()
        adam.step()
    pytest.fail(f"not learned: loss {loss.item()} of {first} at first")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("resnet", ["resnet", "pbn", "package.module:Class"]),
        ("no.such.package:Class", ["no.such.package", "import"]),
        ("simtown.training.models.pbn:Nothing", ["Nothing"]),
        ("simtown.training.world:World", ["torch.nn.Module"]),
    ],
)
def test_what_is_no_model_is_refused(name, words):
    with pytest.raises(ModelError) as refused:
        find(name)
    assert all(word in str(refused.value) for word in words)
    assert "\n" not in str(refused.value)


IMPOSSIBLE = [("init", "magic"), ("depth", "3"), ("embedding", "1.5")]


@pytest.mark.parametrize(("option", "value"), IMPOSSIBLE)
def test_an_impossible_option_is_refused(option, value):
    given = {option: value}
    with pytest.raises(ModelError, match=option):
        make("pbn", **(options("pbn", given) if value in ("3", "1.5") else given))


PBN, CNN = {"embedding", "predicate", "dropout", "hidden", "init", "width"}, {"embedding", "dropout", "width"}
OPTIONS = {
    "pbn": PBN | {"box_weight"},
    "pbn-no-boxes": PBN,
    "cnn-lstm": CNN | {"init", "hidden"},
    "cnn-lstm-boxes": CNN | {"init", "hidden", "box_weight"},
    "film": CNN | {"hidden", "blocks"},
    "relation-network": CNN | {"hidden", "relation"},
    "vit": {"dropout", "width", "layers"},
    "true-boxes": {"dropout", "width", "layers"},
    "order-blind": CNN | {"init", "hidden"},
    "one-picture": CNN | {"init", "hidden", "picture"},
    "question-only": {"embedding", "hidden"},
    "picture-only": CNN | {"init"},
}


def test_options_are_the_defaults_but_for_what_is_given_as_their_type():
    defaults = options("pbn", {})
    assert type(defaults["box_weight"]) is float
    assert {"embedding", "predicate", "dropout", "hidden", "init"} <= set(defaults)
    chosen = options("pbn", {"embedding": "7", "dropout": "0", "init": "default"})
    assert chosen == {**defaults, "embedding": 7, "dropout": 0.0, "init": "default"}
    assert [type(chosen[k]) for k in ("embedding", "dropout", "init")] == [int, float, str]
    assert build("pbn", world(), chosen).find.label.embedding_dim == 7


def test_a_flag_has_several_spellings():
    flags = {"true": True, "1": True, "yes": True, "no": False, "false": False, "0": False}
    assert {text: options(f"{HERE}:Nested", {"sharp": text})["sharp"] for text in flags} == flags
    with pytest.raises(ModelError, match="sharp=maybe"):
        options(f"{HERE}:Nested", {"sharp": "maybe"})


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")


def costs():
    """The rows of benchmarks/results/models.csv by model and size."""
    with open(ROOT / "benchmarks" / "results" / "models.csv", newline="", encoding="utf-8") as file:
        return {(row["model"], row["size"]): row for row in csv.DictReader(file)}


def test_the_table_is_that_of_the_results():
    rows = costs()
    assert {model for model, _ in rows} == set(MODELS) - {*CONTROLS}
    for model in (name for name in MODELS if name not in CONTROLS):
        small, large = rows[model, "64x32"], rows[model, "128x128"]
        counts = f"{int(small['parameters']):,} | {int(small['operations']) / 1e6:.1f}"
        speeds = f"{int(small['images_per_second']):,} | {int(large['images_per_second']):,}"
        assert f"| `{model}` | {counts} | {speeds} |" in PAGE.splitlines()


@pytest.mark.parametrize("model", [name for name in MODELS if name not in CONTROLS])
def test_the_results_count_the_parameters_that_the_models_have(model):
    rows = costs()
    for width, height in ((64, 32), (128, 128)):
        made = build(model, World(31, width, height, len(vocabulary())), {})
        count = sum(p.numel() for p in made.parameters())
        assert int(rows[model, f"{width}x{height}"]["parameters"]) == count


@pytest.mark.parametrize("model", MODELS)
def test_the_page_names_every_model_and_its_options(model):
    assert f"| `{model}` |" in PAGE
    section = [part for part in re.split("^## ", PAGE, flags=re.M) if f"`{model}`" in part.split("\n")[0]]
    if model != "question-only":
        assert len(section) == 1
        assert [name for name in options(model, {}) if f"`{name}`" not in section[0]] == []

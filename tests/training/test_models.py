"""The models: sizes as in section 6.5, the exact short form of the labelled convolution, losses and their gradients."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install '.[train]'")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from torch import nn  # noqa: E402

from simtown.language.questions import vocabulary  # noqa: E402
from simtown.training.fit import loss_of  # noqa: E402
from simtown.training.models import MODELS, ModelError, build, find, options  # noqa: E402
from simtown.training.models.layers import QuestionEncoder, half, perceptron  # noqa: E402
from simtown.training.models.pbn import LabelledConvolution  # noqa: E402
from simtown.training.world import Batch  # noqa: E402
from tests.training.towns import noise, world  # noqa: E402

quick = settings(max_examples=40)
HIDDEN = [128, 100, 50, 25, 25, 4]
ON = [0.0, 1.0]


def make(name, seed=0, sizes=None, **chosen):
    torch.manual_seed(seed)
    return build(name, sizes or world(), chosen)


def double(batch):
    """The same examples in float64."""
    return Batch(*(v.double() if v.is_floating_point() else v for v in vars(batch).values()))


def exact(name, b=8, **chosen):
    """A fresh model and examples for it in float64, where rounding is too small to look like anything else."""
    return make(name, **chosen).double().eval(), double(noise(world(), b))


def differ(one, other):
    """Which numbers of two float64 tensors differ by more than rounding."""
    return (one - other).abs() > 1e-9


# The labelled convolution


@quick
@given(
    height=st.integers(1, 13),
    width=st.integers(1, 13),
    slots=st.integers(1, 3),
    b=st.integers(1, 4),
    embedding=st.integers(1, 5),
    filters=st.integers(1, 6),
    seed=st.integers(0, 99),
)
def test_the_short_form_is_the_plain_one_in_value_and_gradient(height, width, slots, b, embedding, filters, seed):
    torch.manual_seed(seed)
    look = LabelledConvolution(embedding, filters, height, width).double()
    image = torch.randn(b, 3, height, width, dtype=torch.float64, requires_grad=True)
    labels = torch.randn(slots, b, embedding, dtype=torch.float64, requires_grad=True)
    short, plain = look(image, labels), look.plain(image, labels)
    assert short.shape == (slots * b, filters, (height + 1) // 2, (width + 1) // 2)
    torch.testing.assert_close(short, plain)
    pull = torch.randn_like(plain)
    wanted = (look.conv.weight, image, labels)
    for ours, theirs in zip(torch.autograd.grad(short, wanted, pull), torch.autograd.grad(plain, wanted, pull), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_the_short_form_is_the_plain_one_in_the_precision_and_memory_layout_of_training():
    look = LabelledConvolution(32, 32, 64, 64)
    image, labels = torch.rand(4, 3, 64, 64).contiguous(memory_format=torch.channels_last), torch.randn(2, 4, 32)
    short, plain = look(image, labels), look.plain(image, labels)
    terms = look.conv.weight[0].numel()
    with torch.no_grad():
        look.conv.weight.abs_()
        most = terms * torch.finfo(torch.float32).eps * look.plain(image, labels.abs())  # what rounding does to two such sums at most
    assert ((short - plain).abs() <= most).all()
    assert plain.std() > 100 * most.max()


def test_what_a_label_adds_depends_on_the_border_and_nothing_else():
    look = LabelledConvolution(3, 4, 9, 9)
    with torch.no_grad():
        added = look(torch.zeros(1, 3, 9, 9), torch.ones(1, 1, 3))[0]
    inner = added[:, 1:-1, 1:-1]
    torch.testing.assert_close(inner, inner[:, :1, :1].expand_as(inner))
    assert (added[:, 0, 0] - inner[:, 0, 0]).abs().max() > 1e-3


# Sizes


@pytest.mark.parametrize(("name", "filters"), [("pbn", [32, 64, 64]), ("cnn-lstm", [20, 50, 100])])
def test_the_convolutions_are_those_of_the_paper(name, filters):
    convolutions = [m for m in make(name).modules() if isinstance(m, nn.Conv2d)]
    assert [c.out_channels for c in convolutions] == filters
    assert {(c.kernel_size, c.stride) for c in convolutions} == {((3, 3), (2, 2))}
    assert [c.in_channels for c in convolutions][1:] == filters[:-1]
    kinds = [m for m in make(name).modules() if isinstance(m, (nn.BatchNorm2d, nn.Dropout, nn.Dropout2d))]
    assert [type(m) is nn.BatchNorm2d for m in kinds] == [True, False] * 3
    assert [m.num_features for m in kinds[::2]] == filters


@pytest.mark.parametrize("name", MODELS)
def test_the_perceptron_on_top_is_that_of_the_paper(name):
    sizes = [m.out_features for m in make(name).modules() if isinstance(m, nn.Linear)]
    assert sizes[: len(HIDDEN)] == HIDDEN
    assert sizes[-1] == 1
    assert name == "pbn" or len(sizes) == len(HIDDEN) + 1


def test_the_lstm_is_that_of_the_paper():
    (lstm,) = [m for m in make("cnn-lstm").modules() if isinstance(m, nn.LSTM)]
    assert (lstm.hidden_size, lstm.num_layers, lstm.bidirectional) == (128, 1, False)


def test_stages_normalise_then_cut_then_drop_whole_channels():
    stage = make("cnn-lstm", dropout=0.5).cnn[1].train()
    x = torch.randn(64, 20, 5, 5) * 3 + 2
    torch.manual_seed(0)
    y = stage(x.clone())
    norm = torch.relu((x - x.mean((0, 2, 3), keepdim=True)) / (x.var((0, 2, 3), keepdim=True, unbiased=False) + 1e-5).sqrt())
    gone = (y == 0).all(-1).all(-1)
    assert 0.4 < gone.float().mean() < 0.6
    torch.testing.assert_close(y[~gone], 2 * norm[~gone], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("width", "height"), [(32, 32), (17, 33), (64, 8)])
def test_any_picture_size_gives_one_logit_an_example(name, width, height):
    sizes = world(width=width, height=height)
    logits = make(name, sizes=sizes).eval()(noise(sizes, 3))
    assert logits.shape == (3,)
    assert logits.isfinite().all()
    assert (half(width, 3), half(height, 3)) == (-(-width // 8), -(-height // 8))


def test_the_last_layer_of_a_perceptron_is_linear_and_an_unknown_init_is_refused():
    assert [isinstance(m, nn.Linear) for m in perceptron(3, 4, 5)] == [True, False, True]
    with pytest.raises(ValueError, match="orthogonal"):
        perceptron(3, 4, init="magic")


# What the models see


def test_the_slots_share_their_weights():
    model, batch = exact("pbn")
    boxes = model.boxes(batch)
    batch.subject, batch.object = batch.object, batch.subject
    torch.testing.assert_close(model.boxes(batch), boxes.flip(0))
    assert differ(boxes[0], boxes[1]).any()


def test_a_box_depends_on_the_picture_and_its_own_entity_alone():
    model, batch = exact("pbn")
    boxes = model.boxes(batch)
    batch.object, batch.relation, batch.tokens = (batch.object + 1) % 5, (batch.relation + 1) % 4, batch.tokens * 0
    other = model.boxes(batch)
    torch.testing.assert_close(other[0], boxes[0])
    assert differ(other[1], boxes[1]).any(-1).all()
    batch.image = batch.image.flip(0)
    assert differ(model.boxes(batch)[0], boxes[0]).any(-1).all()


def test_the_answer_depends_on_relation_and_order():
    model, batch = exact("pbn")
    boxes, logits = model.boxes(batch), model(batch)
    torch.testing.assert_close(model.decide(boxes, batch.relation), logits)
    assert differ(model.decide(boxes, (batch.relation + 1) % 4), logits).all()
    assert differ(model.decide(boxes.flip(0), batch.relation), logits).any()


@pytest.mark.parametrize(("name", "picture", "words"), [("cnn-lstm", True, True), ("question-only", False, True), ("pbn", True, False)])
def test_who_looks_at_pictures_and_who_reads(name, picture, words):
    model, batch = exact(name)
    logits = model(batch)
    image, batch.image = batch.image, batch.image.flip(0)
    assert bool(differ(model(batch), logits).any()) is picture
    batch.image, batch.tokens = image, batch.tokens.flip(0)
    assert bool(differ(model(batch), logits).any()) is words


def test_padding_is_not_read():
    torch.manual_seed(0)
    encoder = QuestionEncoder(30, 6, 8).double()
    lengths = [1, 2, 7, 15, 16]
    tokens = torch.zeros(len(lengths), 16, dtype=torch.int64)
    for row, length in zip(tokens, lengths, strict=True):
        row[:length] = torch.randint(1, 30, (length,))
    together = encoder(tokens)
    assert together.shape == (5, 8)
    for row, length, state in zip(tokens, lengths, together, strict=True):
        _, (last, _) = encoder.lstm(encoder.embed(row[None, :length]))
        torch.testing.assert_close(state, last[0, 0])


# Losses


@pytest.mark.parametrize("weight", [0.0, 1.0, 30.0])
def test_the_joint_loss_by_hand(weight):
    model, batch = exact("pbn", 16, box_weight=weight)
    loss, logits = loss_of(model, batch)
    z, y = logits.detach().numpy(), batch.answer.numpy()
    p = 1 / (1 + np.exp(-z))
    right = -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()
    off = np.abs(model.boxes(batch).detach().numpy().transpose(1, 0, 2) - batch.boxes.numpy())
    near = np.where(off < 1, off**2 / 2, off - 0.5).mean()
    assert loss.item() == pytest.approx(right + weight * near, rel=1e-5)
    torch.testing.assert_close(logits, model(batch))


def test_the_loss_of_a_model_without_its_own_is_cross_entropy():
    model, batch = exact("cnn-lstm", 16)
    loss, logits = loss_of(model, batch)
    z, y = logits.detach().numpy(), batch.answer.numpy()
    assert loss.item() == pytest.approx(np.where(y == 1, np.log1p(np.exp(-z)), np.log1p(np.exp(z))).mean(), rel=1e-5)


@pytest.mark.parametrize(("weight", "felt"), [(0.0, False), (30.0, True)])
def test_true_boxes_teach_only_with_a_weight(weight, felt):
    grads = []
    for shift in (0.0, 0.5):
        model, batch = exact("pbn", box_weight=weight)
        batch.boxes = batch.boxes + shift
        loss_of(model, batch)[0].backward()
        grads.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
    assert bool(differ(*grads).any()) is felt


def test_both_parts_of_the_loss_reach_the_place_finder():
    model, batch = exact("pbn", box_weight=0.0)
    loss_of(model, batch)[0].backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.parameters())


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("pbn", ["find.label.weight", "find.look.conv.weight", "find.locate.10.weight", "predicate.weight", "verify.0.bias"]),
        ("cnn-lstm", ["cnn.1.norm.weight", "question.embed.weight", "question.lstm.bias_ih_l0", "decide.0.4.bias", "decide.1.weight"]),
    ],
)
def test_gradients_are_those_of_finite_differences(name, parts):
    sizes = world(entities=3, width=8, height=8)
    model = make(name, sizes=sizes, embedding=2).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():  # off the corners of ReLU, which fresh zero biases sit on
            parameter += 0.05 * torch.randn_like(parameter)
    batch, named = double(noise(sizes, 3)), dict(model.named_parameters())

    def loss(*values):
        swapped = {f"model.{part}": value for part, value in zip(parts, values, strict=True)}
        return torch.func.functional_call(_Loss(model), swapped, (batch,))

    inputs = tuple(named[part].detach().clone().requires_grad_() for part in parts)
    assert torch.autograd.gradcheck(loss, inputs, eps=1e-6, atol=1e-6, fast_mode=True)


class _Loss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, batch):
        return loss_of(self.model, batch)[0]


def by_heart(batch, logits, loss, first):
    """Every answer is right, and both losses are a tenth: the answers' of a coin's, all of it of a fresh model's."""
    right = ((logits > 0) == (batch.answer > 0.5)).all()
    return right and nn.functional.binary_cross_entropy_with_logits(logits, batch.answer) < np.log(2) / 10 and loss < first / 10


@pytest.mark.parametrize("name", ["pbn", "cnn-lstm"])
def test_one_batch_can_be_learned_by_heart(name):
    """In some 120 steps; but how many, the order of additions decides, so ten times as many may be taken."""
    sizes = world(width=16, height=16)
    batch = noise(sizes, 32)
    model = make(name, sizes=sizes, dropout=0.0).train()
    adam = torch.optim.Adam(model.parameters(), lr=3e-3)
    first = loss_of(model, batch)[0].item()
    for _ in range(1_500):
        loss, logits = loss_of(model, batch)
        if by_heart(batch, logits, loss.item(), first):
            return
        adam.zero_grad()
        loss.backward()
        adam.step()
    pytest.fail(f"not learned: loss {loss.item()} of {first} at first, {int(((logits > 0) == (batch.answer > 0.5)).sum())} of 32 right")


# Models by name


def test_every_name_of_the_registry_is_a_module():
    assert set(MODELS) == {"pbn", "cnn-lstm", "question-only"}
    assert all(issubclass(find(name), nn.Module) for name in MODELS)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("resnet", ["resnet", "pbn", "package.module:Class"]),
        ("", ["unknown"]),
        (":Class", ["unknown"]),
        ("module:", ["unknown"]),
        ("no.such.package:Class", ["no.such.package", "import"]),
        ("simtown.training.models.pbn:Nothing", ["Nothing"]),
        ("simtown.training.models.layers:pairwise", ["torch.nn.Module"]),
        ("simtown.training.world:World", ["torch.nn.Module"]),
        ("simtown.training.models.layers:half", ["torch.nn.Module"]),
    ],
)
def test_what_is_no_model_is_refused(name, words):
    with pytest.raises(ModelError) as refused:
        find(name)
    assert all(word in str(refused.value) for word in words)
    assert "\n" not in str(refused.value)


def test_options_are_the_defaults_but_for_what_is_given_as_their_type():
    defaults = options("pbn", {})
    assert type(defaults["box_weight"]) is float
    assert {"embedding", "predicate", "dropout", "hidden", "init"} <= set(defaults)
    chosen = options("pbn", {"embedding": "7", "dropout": "0", "init": "default"})
    assert chosen == {**defaults, "embedding": 7, "dropout": 0.0, "init": "default"}
    assert [type(chosen[k]) for k in ("embedding", "dropout", "init")] == [int, float, str]
    assert build("pbn", world(), chosen).find.label.embedding_dim == 7


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"depth": "3"}, ["depth", "embedding"]),
        ({"embedding": "many"}, ["embedding=many", f"{options('pbn', {})['embedding']}"]),
        ({"embedding": "1.5"}, ["embedding"]),
    ],
)
def test_an_option_that_cannot_be_is_refused(given, words):
    with pytest.raises(ModelError) as refused:
        options("pbn", given)
    assert all(word in str(refused.value) for word in words)


def test_a_model_of_ones_own_is_found_in_the_working_directory(tmp_path, monkeypatch, own_modules):
    (tmp_path / "towns_own_model.py").write_text(
        "from torch import nn\n\n\n"
        "class Own(nn.Module):\n"
        "    def __init__(self, world, wide: int = 3, sharp: bool = False, **rest):\n"
        "        super().__init__()\n        self.world, self.wide, self.sharp = world, wide, sharp\n"
    )
    monkeypatch.chdir(tmp_path)
    name = "towns_own_model:Own"
    assert options(name, {}) == {"wide": 3, "sharp": False}
    assert [options(name, {"sharp": text})["sharp"] for text in ("true", "1", "yes", "no", "false", "0")] == [True] * 3 + [False] * 3
    with pytest.raises(ModelError, match="sharp=maybe"):
        options(name, {"sharp": "maybe"})
    made = build(name, world(), {"wide": 4, "sharp": True})
    assert (made.wide, made.sharp, made.world.words) == (4, True, len(vocabulary()))
    with pytest.raises(ModelError, match="towns_own_model:Own"):
        build("towns_own_model:Own", world(), {"wide": 4, "world": 3})

"""What the models share: sizes, initialisation, and a first layer that Adam does not kill."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch import nn

from simtown.training.models import layers
from simtown.training.models.layers import HEAD, QuestionEncoder, half, perceptron
from simtown.training.models.pbn import LabelledConvolution
from simtown.training.models.stage import Stage
from tests.every import for_every


@for_every(range(1, 40))
def test_half_is_what_a_convolution_leaves(size):
    x = torch.zeros(1, 1, size, size)
    for times in range(4):
        assert half(size, times) == x.shape[-1]
        x = nn.functional.conv2d(x, torch.zeros(1, 1, 3, 3), stride=2, padding=1)


def test_wide_is_a_plain_layer_in_another_unit():
    torch.manual_seed(0)
    wide, plain, x = layers.Wide(400, 7).double(), nn.Linear(400, 7).double(), torch.rand(5, 400).double()
    with torch.no_grad():
        wide.weight.copy_(plain.weight * 20)  # the root of 400
        wide.bias.copy_(plain.bias)
    torch.testing.assert_close(wide(x), plain(x))


def dead(plain, seed, steps=60):
    """Share of the first layer's ReLU units that no longer differ between inputs, after Adam on noise."""
    torch.manual_seed(seed)
    x = torch.relu(torch.randn(1024, 3000)) / 2
    head = perceptron(3000, *HEAD)
    if plain:
        layer = nn.Linear(3000, HEAD[0])
        with torch.no_grad():
            layer.weight.copy_(head[0].weight / 3000**0.5)
            layer.bias.copy_(head[0].bias)
        head[0] = layer
    model = nn.Sequential(head, nn.Linear(HEAD[-1], 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        logits, labels = model(x[torch.randint(1024, (128,))])[:, 0], torch.randint(2, (128,)).float()
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float((torch.relu(head[0](x)).std(0) <= 1e-6).float().mean())


def test_adam_kills_a_plain_first_layer_and_not_a_wide_one():
    """Some 36 % against none; the order of additions changes that, so it is the means of two seeds."""
    plain, wide = (np.mean([dead(kind, seed) for seed in range(2)]) for kind in (True, False))
    assert plain > 0.1
    assert wide < plain / 4


def test_coordinates_are_the_middles_of_cells_and_leave_the_maps_alone():
    maps = torch.randn(2, 3, 2, 4)
    placed = layers.with_coordinates(maps)
    assert torch.equal(placed[:, :3], maps)
    for x, y in placed[:, 3:]:
        assert (x.tolist(), y.tolist()) == ([[-0.75, -0.25, 0.25, 0.75]] * 2, [[-0.5] * 4, [0.5] * 4])


@pytest.mark.parametrize("padding", [0, 1, 7])
def test_a_question_is_read_to_its_end_whatever_pads_it_and_however_often_it_comes(padding):
    """Against the LSTM run over each question alone, in value and gradient."""
    encoder = QuestionEncoder(words=30, embedding=8, hidden=12)
    questions = [torch.randint(1, 30, (length,)) for length in (9, 3, 1, 6)]
    tokens = torch.zeros(len(questions), 9 + padding, dtype=torch.int64)
    for row, question in zip(tokens, questions, strict=True):
        row[: len(question)] = question
    which, weights = torch.tensor([1, 0, 1, 3, 2, 0]), torch.randn(6, 12)
    alone = torch.stack([encoder.lstm(encoder.embed(question[None]))[0][0, -1] for question in questions])
    read = encoder(tokens[which]), alone[which]
    torch.testing.assert_close(*read, rtol=0, atol=1e-6)
    parameters = list(encoder.parameters())
    gradients = [torch.autograd.grad((states * weights).sum(), parameters) for states in read]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (2, 7), (13, 7), (16, 32)])
@pytest.mark.parametrize(("slots", "b", "filters"), [(0, 7, 3), (1, 2, 1), (3, 2, 20)])
@pytest.mark.parametrize(("rate", "learns"), [(0.0, True), (0.3, True), (1.0, True), (0.3, False)])
@pytest.mark.parametrize(("order", "middle"), [(torch.channels_last, 1), (torch.contiguous_format, 300)])
@pytest.mark.parametrize(("kind", "error"), [(torch.float32, 2**-14), (torch.bfloat16, 2**-6)])
def test_a_stage_is_pytorchs_layers_up_to_rounding(
    height, width, order, slots, b, filters, rate, learns, middle, kind, error, same_dropout
):
    """Batch norm, ReLU and dropout of maps to which labels are added first, if there are slots for them.

    The maps spread by 3 about a middle.
    """
    torch.manual_seed(height + width)
    stage = Stage(filters, rate).train(learns)
    stage.norm.running_mean.uniform_(-1, 1)
    with torch.no_grad():
        stage.norm.weight.uniform_(0.5, 2)
        stage.norm.bias.uniform_(-1, 1)
    look = LabelledConvolution(5, filters, height, width)
    maps, label = look(torch.randn(b, 3, height, width), 3 * torch.randn(slots or 1, b, 5))
    inputs = [(3 * maps + middle).to(memory_format=order), label.added][: 1 + bool(slots)]
    inputs = [values.detach().to(kind).requires_grad_() for values in inputs]
    exact = [values.detach().double().requires_grad_() for values in inputs]
    plain, outputs = deepcopy(stage).double(), []
    for model, given in ((stage, inputs), (plain, exact)):
        torch.manual_seed(2)
        with torch.set_grad_enabled(learns):
            outputs.append(model(given[0], label._replace(added=given[1]) if slots else None))
    found, wanted = outputs
    assert (found.dtype, found.shape) == (kind, ((slots or 1) * b, filters, half(height, 1), half(width, 1)))
    pairs = [(found, wanted)]
    if learns:
        assert type(found.grad_fn).__name__ != "MulBackward0"  # which is the last of PyTorch's three
        pull = torch.randn(found.shape).to(kind)
        ours = torch.autograd.grad(found, (*inputs, *stage.parameters()), pull)
        theirs = torch.autograd.grad(wanted, (*exact, *plain.parameters()), pull.double())
        pairs += zip(ours, theirs, strict=True)
    for ours, theirs in pairs:
        largest = max(1.0, float(theirs.detach().abs().max()))
        assert float((ours.detach() - theirs.detach()).abs().max()) <= error * largest
    for ours, theirs in zip(stage.buffers(), plain.buffers(), strict=True):
        torch.testing.assert_close(ours.double(), theirs.double(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float32])
def test_what_is_no_number_goes_through_a_stage(kind):
    maps = torch.randn(4, 2, 3, 3).to(kind)
    maps[1, 0, 2, 1] = torch.nan
    found = Stage(2, 0.0)(maps)
    assert torch.equal(torch.isnan(found).all((0, 2, 3)), torch.tensor([True, False]))
    assert torch.isfinite(found[:, 1]).all()


def test_a_stage_under_a_transform_or_without_statistics_is_pytorchs_three_layers():
    torch.manual_seed(0)
    stage, maps = Stage(3, 0.0), torch.randn(4, 3, 2, 2)
    alone = stage(maps)
    stage.norm.track_running_stats = False
    stage.norm.running_mean = stage.norm.running_var = stage.norm.num_batches_tracked = None
    torch.testing.assert_close(stage(maps), alone)

    def total(weight):
        return torch.func.functional_call(stage, {"norm.weight": weight}, (maps,)).sum()

    weights = torch.stack([stage.norm.weight.detach(), torch.full((3,), 2.0)])
    found = torch.func.vmap(torch.func.grad(total))(weights)
    torch.testing.assert_close(found[0], torch.autograd.grad(alone.sum(), stage.norm.weight)[0])

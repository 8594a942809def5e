"""The convolution over the words of URLs."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from honeyguide.errors import HoneyguideError  # noqa: E402
from honeyguide.learning.parameters import Parameters  # noqa: E402
from honeyguide.learning.url_cnn import FILTERS, SIZES, UrlCnn  # noqa: E402

WIDTH, WORDS = 6, 40


def rows(count=9, seed=0):
    rng = np.random.default_rng(seed)
    words = np.zeros((count, 50), np.float32)
    for row in words:
        length = rng.integers(0, 12)
        row[:length] = rng.integers(1, WORDS, length)
    return words


def made(seed=0, hidden=0):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(WORDS, WIDTH)).astype(np.float32)
    vectors[0] = 0
    cnn = UrlCnn(WIDTH, rng, hidden=hidden)
    cnn.parameters.block[0] += (
        0.1 * cnn._mask * torch.linspace(-1, 1, cnn.parameters.block.shape[1])
    )
    return cnn, vectors


def by_torch(cnn, vectors, words):
    """The same network as torch's own convolutions over all 50 words."""
    views = cnn.parameters.views()
    x = torch.from_numpy(vectors[words.astype(int)]).transpose(1, 2)
    x = torch.nn.functional.pad(x, (0, max(SIZES)))
    answers = []
    for number, size in enumerate(SIZES):
        filters = views["filters"].view(max(SIZES), WIDTH, -1)[:size]
        own = filters[:, :, FILTERS * number : FILTERS * (number + 1)].permute(2, 1, 0)
        answers.append(torch.nn.functional.conv1d(x, own)[:, :, : words.shape[1] + 1].amax(2))
    hidden = torch.relu(torch.cat(answers, 1) + views["offsets"])
    if "middle" in views:
        hidden = torch.relu(hidden @ views["middle"] + views["middle_offsets"])
    return torch.sigmoid((hidden @ views["last"] + views["bias"])[:, 0])


@pytest.mark.parametrize("hidden", [0, 5])
def test_values_are_those_of_convolutions_of_width_one_to_four(hidden):
    cnn, vectors = made(hidden=hidden)
    words = rows()
    expected = by_torch(cnn, vectors, words).detach().numpy()
    assert cnn.values(words, cnn.products(vectors)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("hidden", [0, 5])
def test_the_gradient_is_that_of_automatic_differentiation(hidden):
    cnn, vectors = made(3, hidden)
    words, rng = rows(30, 3), np.random.default_rng(3)
    targets, weights = rng.random((2, 30), np.float32)
    errors = torch.from_numpy(targets) - by_torch(cnn, vectors, words)
    loss = (torch.from_numpy(weights) * errors.square()).mean()
    expected = cnn.parameters.gradient(loss) * cnn._mask
    gradient, found = cnn.gradient(words, vectors, targets, weights)
    assert gradient.numpy() == pytest.approx(expected.numpy(), abs=1e-7)
    assert found == pytest.approx(errors.detach().numpy(), abs=1e-6)


def test_steps_lead_to_the_targets():
    cnn, vectors = made(1)
    words = rows(8, 1)
    words[:, 0] = np.arange(1, 9)
    targets, ones = np.linspace(0.1, 0.9, 8, dtype=np.float32), np.ones(8, np.float32)
    first = np.abs(cnn.learn(words, vectors, targets, ones)).mean()
    for _ in range(800):
        last = np.abs(cnn.learn(words, vectors, targets, ones)).mean()
    assert last < 0.3 * first


def test_adam_is_torchs_adam():
    shapes, rng = {"w": (4, 3), "b": (3,)}, np.random.default_rng(0)
    ours = Parameters(shapes, rng, 0.01)
    theirs = torch.nn.Parameter(ours.copy())
    optimizer = torch.optim.Adam([theirs], lr=0.01)
    for step in range(20):
        gradient = torch.sin(torch.arange(15.0) * (step + 1))
        ours.descend(gradient)
        theirs.grad = gradient.clone()
        optimizer.step()
    assert ours.data.detach().numpy() == pytest.approx(theirs.detach().numpy(), abs=2e-6)


def test_a_network_of_another_shape_is_refused():
    one = Parameters({"w": (4, 3)}, np.random.default_rng(0))
    with pytest.raises(HoneyguideError, match="another shape"):
        one.load(Parameters({"w": (3, 4)}, np.random.default_rng(0)).state())


def test_first_weights_can_have_the_variance_of_one_by_the_number_of_inputs():
    """Friar (2017, §2.3.3); a filter over n words has n times as many inputs as one over a word."""
    width = 400
    cnn = UrlCnn(width, np.random.default_rng(0), weights="inputs", hidden=300)
    arrays = cnn.parameters.arrays()
    for number, size in enumerate(SIZES):
        own = arrays["filters"][: size * width, FILTERS * number : FILTERS * (number + 1)]
        assert own.var() == pytest.approx(1 / (size * width), rel=0.1)
    assert arrays["middle"].var() == pytest.approx(1 / (FILTERS * len(SIZES)), rel=0.1)
    assert arrays["last"].var() == pytest.approx(1 / 300, rel=0.3)


def test_a_second_layer_does_not_change_the_first_weights_of_the_others():
    one, two = (
        UrlCnn(WIDTH, np.random.default_rng(0), hidden=hidden).parameters.arrays()
        for hidden in (0, 16)
    )
    assert one["filters"].tolist() == two["filters"].tolist()
    assert set(two) - set(one) == {"middle", "middle_offsets"}

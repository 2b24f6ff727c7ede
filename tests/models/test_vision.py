"""Models of images and graphs: names and shapes of weights, results, training, modes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import treadle as td
from treadle import models
from treadle.base.errors import ArgumentError, ShapeError
from treadle.models.mobilenet import divisible
from treadle.models.resnet import BasicBlock, Bottleneck
from treadle.nn import functional as f

KEYS = Path(__file__).parent / "keys"
WHOLE = {
    "dcgan_discriminator": models.DCGANDiscriminator,
    "dcgan_generator": models.DCGANGenerator,
    "gat": lambda: models.GAT(1433, 64, 2, 7, heads=8),
    "gcn": lambda: models.GCN(1433, 16, 2, 7),
    "lenet": models.LeNet,
    "mlp": lambda: models.MLP(784, [256, 64, 10]),
    "mobilenet_v2": models.mobilenet_v2,
    "resnet18": models.resnet18,
    "resnet34": models.resnet34,
    "resnet50": models.resnet50,
    "tf_efficientnet_lite0": models.efficientnet_lite0,
    "unet": models.UNet,
    "unet_bilinear": lambda: models.UNet(bilinear=True),
    "vae": models.VAE,
    "vit_b_16": models.vit_b_16,
}
EDGES = np.array([[0, 1, 2, 3, 4, 5, 0, 2, 4, 3], [1, 2, 3, 4, 5, 0, 3, 5, 1, 3]])


def drawn(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def images(*shape):
    return (td.tensor(drawn(*shape)),)


def nodes(features):
    return td.tensor(drawn(6, features)), td.tensor(EDGES)


# Small forms that have all there is: how to make one, what it takes, the shape of its result.
SMALL = {
    "mlp": (lambda: models.MLP(5, [8, 8, 3], td.nn.LayerNorm), lambda: images(4, 5), (4, 3)),
    "lenet": (lambda: models.LeNet(4, 2, 20), lambda: images(4, 2, 20, 20), (4, 4)),
    "resnet": (
        lambda: models.ResNet(BasicBlock, (1, 1, 1, 1), 4), lambda: images(4, 3, 33, 40), (4, 4)
    ),
    "bottleneck": (
        lambda: models.ResNet(Bottleneck, (1, 1, 1, 2), 4), lambda: images(4, 3, 40, 33), (4, 4)
    ),
    "mobilenet": (
        lambda: models.MobileNetV2(4, 0.5, [(1, 16, 1, 1), (6, 16, 2, 2)]),
        lambda: images(4, 3, 19, 16), (4, 4),
    ),
    "efficientnet": (
        lambda: models.EfficientNet([(1, 3, 1, 1, 8), (2, 5, 2, 3, 12)], 4, 3, 8, 16, 0.1),
        lambda: images(4, 3, 18, 15), (4, 4),
    ),
    "unet": (lambda: models.UNet(3, 4, False, 4), lambda: images(2, 3, 19, 32), (2, 4, 19, 32)),
    "bilinear": (lambda: models.UNet(3, 4, True, 4), lambda: images(2, 3, 32, 17), (2, 4, 32, 17)),
    "generator": (
        lambda: models.DCGANGenerator(6, 4, 2), lambda: images(3, 6, 1, 1), (3, 2, 64, 64)
    ),
    "discriminator": (
        lambda: models.DCGANDiscriminator(4, 2), lambda: images(3, 2, 64, 64), (3,)
    ),
    "vit": (
        lambda: models.VisionTransformer(12, 4, 2, 2, 8, 16, 0.1, 0.1, 4, 6),
        lambda: images(4, 3, 12, 12), (4, 4),
    ),
    "gcn": (lambda: models.GCN(3, 8, 2, 4, 0.1), lambda: nodes(3), (6, 4)),
    "gat": (lambda: models.GAT(3, 8, 2, 4, 0.1, heads=2), lambda: nodes(3), (6, 4)),
}  # fmt: skip
every_small = pytest.mark.parametrize("name", SMALL)


def listed(name):
    lines = (KEYS / f"{name}.txt").read_text("utf-8").splitlines()
    return [(line.split(" ")[0], line.partition(" ")[2]) for line in lines]


# ---- names


def test_every_list_of_names_belongs_to_a_model():
    assert {path.stem for path in KEYS.glob("*.txt")} >= set(WHOLE)


@pytest.mark.parametrize("name", WHOLE)
def test_weights_have_the_names_shapes_and_order_of_the_original(name):
    state = WHOLE[name]().state_dict()
    assert [(key, "x".join(map(str, t.shape))) for key, t in state.items()] == listed(name)


def test_numbers_of_parameters_are_those_that_are_told():
    def count(model):
        return sum(p.size for p in model.parameters())

    told = {"resnet18": 11689512, "resnet50": 25557032, "mobilenet_v2": 3504872,
            "tf_efficientnet_lite0": 4652008, "vit_b_16": 86567656}  # fmt: skip
    assert {name: count(WHOLE[name]()) for name in told} == told


def test_a_state_from_before_batches_were_counted_is_loaded():
    model = models.ResNet(BasicBlock, (1, 1, 1, 1), 4)
    state = {k: v.numpy() for k, v in model.state_dict().items() if "num_batches" not in k}
    state["fc.bias"] = state["fc.bias"] + 1.0
    found = model.load_state_dict(state)
    assert not found.missing_keys
    np.testing.assert_array_equal(model.fc.bias.numpy(), state["fc.bias"])
    assert model.bn1.num_batches_tracked.item() == 0


def test_published_vision_transformers_name_their_perceptrons_otherwise():
    make = SMALL["vit"][0]
    one, other = make(), make()
    old = {
        name.replace("mlp.0.", "mlp.linear_1.").replace("mlp.3.", "mlp.linear_2."): value
        for name, value in one.state_dict().items()
    }
    assert "encoder.layers.encoder_layer_1.mlp.linear_2.bias" in old
    other.load_state_dict(old)
    x = SMALL["vit"][1]()
    np.testing.assert_array_equal(one.eval()(*x).numpy(), other.eval()(*x).numpy())


# ---- results


@every_small
def test_a_result_has_the_shape_that_is_told(name):
    make, given, shape = SMALL[name]
    model = make().eval()
    found = model(*given())
    assert found.shape == shape
    assert np.isfinite(found.numpy()).all()


@every_small
def test_evaluation_gives_the_same_again_and_changes_nothing(name):
    make, given, _ = SMALL[name]
    model, x = make().eval(), given()
    before = {key: value.numpy().copy() for key, value in model.state_dict().items()}
    np.testing.assert_array_equal(model(*x).numpy(), model(*x).numpy())
    for key, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[key])


@every_small
def test_images_of_a_batch_do_not_see_each_other_in_evaluation(name):
    make, given, _ = SMALL[name]
    model, x = make().eval(), given()
    if len(x) == 1:
        whole, alone = model(*x), model(x[0][1:2])
        np.testing.assert_allclose(alone.numpy(), whole[1:2].numpy(), rtol=1e-4, atol=1e-5)


@every_small
def test_an_empty_batch_gives_an_empty_result(name):
    make, given, shape = SMALL[name]
    x = given()
    if len(x) == 1:
        assert make().eval()(x[0][:0]).numpy().shape == (0, *shape[1:])


def loss_of(model, x):
    found = model(*x)
    if isinstance(model, models.DCGANDiscriminator):
        return f.binary_cross_entropy(found, td.ones_like(found))
    if isinstance(model, models.DCGANGenerator):
        return f.mse_loss(found, td.full_like(found, 0.3))
    labels = td.arange(found.size // found.shape[1]).reshape(found.shape[0], *found.shape[2:])
    return f.cross_entropy(found, labels % found.shape[1])


def trained(name, compiled, steps=3):
    """Losses of some steps, and the state after them; float64, as batch norms magnify rounding."""
    make, given, _ = SMALL[name]
    td.manual_seed(3)
    model = make().double()
    x = [t.double() if t.dtype is td.float32 else t for t in given()]
    for module in model.modules():  # draws differ between a program and its parts
        if isinstance(module, td.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "dropout") and isinstance(module.dropout, float):
            module.dropout = 0.0
    model.drop_rate = 0.0
    optimizer = td.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)

    def step(*x):
        optimizer.zero_grad()
        loss = loss_of(model, x)
        loss.backward()
        optimizer.step()
        return loss

    run = td.compile(step) if compiled else step
    losses = [run(*x).item() for _ in range(steps)]
    return losses, {key: value.numpy() for key, value in model.state_dict().items()}


@pytest.mark.parametrize("name", [name for name in SMALL if name not in ("bilinear", "bottleneck")])
def test_training_lowers_the_loss_and_compiled_steps_are_the_same(name):
    lazily, state = trained(name, compiled=False)
    assert lazily[-1] < lazily[0]
    compiled, other = trained(name, compiled=True)
    np.testing.assert_allclose(compiled, lazily, rtol=1e-9)
    for key, value in state.items():
        np.testing.assert_allclose(other[key], value, rtol=1e-8, atol=1e-9, err_msg=key)


def test_a_compiled_model_follows_the_mode():
    make, given, _ = SMALL["efficientnet"]
    model, x = make(), given()
    run = td.compile(lambda *x: model(*x))
    before = model.bn1.running_mean.numpy().copy()
    first, again = run(*x).numpy(), run(*x).numpy()
    assert (first != again).any()  # dropout
    after = model.bn1.running_mean.numpy()
    assert (after != before).any()
    assert model.bn1.num_batches_tracked.item() == 2
    model.eval()
    np.testing.assert_allclose(run(*x).numpy(), model(*x).numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(run(*x).numpy(), run(*x).numpy())
    np.testing.assert_array_equal(model.bn1.running_mean.numpy(), after)


# ---- particulars


def test_a_variational_autoencoder_learns_its_rows():
    td.manual_seed(0)
    model = models.VAE(12, 16, 3)
    x = td.tensor((drawn(8, 12) > 0).astype(np.float32))
    optimizer = td.optim.Adam(model.parameters(), lr=1e-2)

    @td.compile
    def step(x):
        optimizer.zero_grad()
        recon, mu, logvar = model(x)
        loss = models.vae_loss(recon, x, mu, logvar)
        loss.backward()
        optimizer.step()
        return loss

    losses = [step(x).item() for _ in range(60)]
    assert np.mean(losses[-5:]) < 0.9 * np.mean(losses[:5])
    drawn_twice = model.reparameterize(td.zeros(2000, 3), td.full((2000, 3), 2.0)).numpy()
    assert abs(drawn_twice.std() - np.e) < 0.15
    assert model.decode(td.zeros(2, 3)).shape == (2, 12)


def test_a_residual_network_may_begin_as_the_identity():
    model = models.ResNet(Bottleneck, (1, 1, 1, 1), 2, zero_init_residual=True)
    assert not model.layer3[0].bn3.weight.numpy().any()
    assert model.layer3[0].bn2.weight.numpy().all()


def test_first_weights_are_of_the_distributions_of_the_originals():
    td.manual_seed(0)
    resnet, mobile = models.resnet18(), models.mobilenet_v2()
    lite, vit = models.efficientnet_lite0(), models.VisionTransformer(32, 16, 1, 2, 64, 128)
    generator = models.DCGANGenerator()
    for weight, deviation in [
        (resnet.layer4[1].conv2.weight, np.sqrt(2 / (512 * 9))),
        (mobile.features[4].conv[1][0].weight, np.sqrt(2 / (144 * 9))),
        (mobile.classifier[1].weight, 0.01),
        (lite.blocks[5][1].conv_dw.weight, np.sqrt(2 / 25)),
        (lite.conv_head.weight, np.sqrt(2 / 1280)),
        (lite.classifier.weight, 1 / np.sqrt(3 * 1000)),
        (vit.conv_proj.weight, np.sqrt(1 / 768)),
        (vit.encoder.pos_embedding, 0.02),
        (generator.main[3].weight, 0.02),
    ]:
        assert abs(weight.numpy().std() / deviation - 1) < 0.1, weight.shape
    assert not vit.heads.head.weight.numpy().any()


def test_widths_are_rounded_to_whole_vectors():
    assert [divisible(n) for n in (1, 8, 11, 12, 33, 100)] == [8, 8, 16, 16, 32, 104]


def test_what_does_not_fit_is_told():
    with pytest.raises(ArgumentError, match="patches"):
        models.VisionTransformer(30, 16, 1, 1, 8, 8)
    with pytest.raises(ShapeError, match="12, 12"):
        SMALL["vit"][0]()(td.zeros(1, 3, 16, 16))
    with pytest.raises(ArgumentError, match="heads"):
        models.GAT(3, 9, 2, 4, heads=2)
    with pytest.raises(ArgumentError, match="num_layers"):
        models.GCN(3, 9, 0)

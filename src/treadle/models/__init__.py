"""Models people know, short and complete, whose weights have the original's names."""

# One line for each model, sorted.
from treadle.models.dcgan import DCGANDiscriminator, DCGANGenerator
from treadle.models.efficientnet import EfficientNet, efficientnet_lite0
from treadle.models.graph import GAT, GCN
from treadle.models.lenet import LeNet
from treadle.models.mlp import MLP
from treadle.models.mobilenet import MobileNetV2, mobilenet_v2
from treadle.models.resnet import ResNet, resnet18, resnet34, resnet50
from treadle.models.unet import UNet
from treadle.models.vae import VAE, vae_loss
from treadle.models.vit import VisionTransformer, vit_b_16

__all__ = [
    "GAT", "GCN", "MLP", "VAE", "DCGANDiscriminator", "DCGANGenerator", "EfficientNet", "LeNet",
    "MobileNetV2", "ResNet", "UNet", "VisionTransformer", "efficientnet_lite0", "mobilenet_v2",
    "resnet18", "resnet34", "resnet50", "vae_loss", "vit_b_16",
]  # fmt: skip

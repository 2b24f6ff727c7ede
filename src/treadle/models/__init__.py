"""Models people know, short and complete, whose weights have the original's names."""

# One line for each model, sorted.
from treadle.models.bert import Bert, BertConfig
from treadle.models.dcgan import DCGANDiscriminator, DCGANGenerator
from treadle.models.efficientnet import EfficientNet, efficientnet_lite0
from treadle.models.generate import generate
from treadle.models.gpt2 import GPT2, GPT2Config
from treadle.models.graph import GAT, GCN
from treadle.models.lenet import LeNet
from treadle.models.llama import Llama
from treadle.models.llama_config import LlamaConfig
from treadle.models.mlp import MLP
from treadle.models.mobilenet import MobileNetV2, mobilenet_v2
from treadle.models.pretrained import from_pretrained
from treadle.models.recurrent import CharRNN, CharRNNConfig, LSTMConfig, LSTMLanguageModel
from treadle.models.resnet import ResNet, resnet18, resnet34, resnet50
from treadle.models.seq2seq import Seq2SeqConfig, Seq2SeqTransformer
from treadle.models.unet import UNet
from treadle.models.vae import VAE, vae_loss
from treadle.models.vit import VisionTransformer, vit_b_16
from treadle.models.whisper import Whisper, WhisperConfig

__all__ = [
    "GAT", "GCN", "GPT2", "MLP", "VAE", "Bert", "BertConfig", "CharRNN", "CharRNNConfig",
    "DCGANDiscriminator", "DCGANGenerator", "EfficientNet", "GPT2Config", "LSTMConfig",
    "LSTMLanguageModel", "LeNet", "Llama", "LlamaConfig", "MobileNetV2", "ResNet",
    "Seq2SeqConfig", "Seq2SeqTransformer", "UNet", "VisionTransformer", "Whisper",
    "WhisperConfig", "efficientnet_lite0", "from_pretrained", "generate", "mobilenet_v2",
    "resnet18", "resnet34", "resnet50", "vae_loss", "vit_b_16",
]  # fmt: skip

"""Mixed precision: products in half, and losses scaled so that small gradients survive it."""

from treadle.amp.scaler import GradScaler
from treadle.tensor.autocast import autocast, is_autocast_enabled

__all__ = ["GradScaler", "autocast", "is_autocast_enabled"]

"""What a run writes down as it goes: event files for TensorBoard, and CSV."""

from treadle.logs.events import SummaryWriter
from treadle.logs.tables import CSVLogger

__all__ = ["CSVLogger", "SummaryWriter"]

"""What stands for every sample of a batch while a function of one sample is recorded."""

from treadle.ops.defs import Kind, Op

SAMPLE = Op(
    "sample", Kind.SOURCE, "One part of a batch, standing for all.", flops=0.0, public=False
)  # fmt: skip

"""onnxruntime: the network of the image row as an ONNX graph, its weights constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from benchmarks.framework import Framework, Maker, Run
from benchmarks.vision import resnet_blocks

OPSET, IR = 20, 9


class Graph:
    """Nodes and constants on their way to a session."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.parameters = parameters
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str) -> str:
        """A parameter by its name."""
        array = np.ascontiguousarray(self.parameters[name])
        self.constants[name] = numpy_helper.from_array(array, name)
        return name

    def add(self, op: str, *operands: str, **attributes: Any) -> str:
        """A node; returns the name of its result."""
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(operands), [name], **attributes))
        return name

    def convolution(self, name: str, norm: str, x: str, stride: int, padding: int) -> str:
        """A convolution and its batch norm; the runtime folds one into the other."""
        size = self.parameters[f"{name}.weight"].shape[2]
        weight = self.constant(f"{name}.weight")
        pads, strides = [padding] * 4, [stride] * 2
        y = self.add("Conv", x, weight, kernel_shape=[size] * 2, pads=pads, strides=strides)
        parts = (self.constant(f"{norm}.{part}") for part in NORM)
        return self.add("BatchNormalization", y, *parts, epsilon=1e-5)

    def session(self, x: Any, result: str, threads: int) -> Any:
        """Ready to run, as far optimised as the runtime can."""
        shape = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
        out = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "g", [shape], [out], list(self.constants.values()))
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        providers = ["CPUExecutionProvider"]
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers)


NORM = ("weight", "bias", "running_mean", "running_var")


def _resnet(threads: int) -> Maker:
    def make(parameters: dict[str, Any], x: Any) -> Run:
        graph = Graph(parameters)
        t = graph.add("Relu", graph.convolution("conv1", "bn1", "x", 2, 3))
        t = graph.add("MaxPool", t, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        for name, _, _, stride in resnet_blocks():
            y = graph.convolution(f"{name}.conv1", f"{name}.bn1", t, stride, 1)
            y = graph.convolution(f"{name}.conv2", f"{name}.bn2", graph.add("Relu", y), 1, 1)
            if f"{name}.down.weight" in parameters:
                t = graph.convolution(f"{name}.down", f"{name}.downbn", t, stride, 0)
            t = graph.add("Relu", graph.add("Add", y, t))
        t = graph.add("Flatten", graph.add("GlobalAveragePool", t))
        t = graph.add("Gemm", t, graph.constant("fc.weight"), graph.constant("fc.bias"), transB=1)
        session = graph.session(x, t, threads)
        return lambda: session.run(None, {"x": x})

    return make


def load(column: str, threads: int) -> Framework:
    """onnxruntime as a column."""
    del column
    version = f"onnxruntime {onnxruntime.__version__}"
    return Framework(version, list, {"F.resnet18_b1_224": _resnet(threads)})

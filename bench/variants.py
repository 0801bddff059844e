"""Makes quantised variants of the graph that the daemon runs, with ONNX Runtime's tools.

Not here: their measurement (precision.py).
"""

import logging
import shutil

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

WEIGHTS = "model.safetensors"
MIN_QUANTISED = 100_000
"""Weights with fewer numbers stay in fp32."""


def make(graph, folder):
    """Writes all variants; returns their files by name. The first is the graph itself."""
    logging.disable(logging.WARNING)
    folded = folder / "folded.onnx"
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(folded)
    options.log_severity_level = 3
    # The graph transposes the published weights at load; quantisation needs them transposed.
    ort.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    # Tensors that were not folded still reference the weights file.
    shutil.copy(graph.with_name(WEIGHTS), folder)
    onnx.save(onnx.load(folded), folded)
    return {
        "fp32": graph,
        "int8 weights only": _weights_only(folded, folder / "weights.onnx"),
        "int8 attention, 8-bit blocks": _int8_attention(folded, folder),
        "int8": _dynamic(folded, folder / "int8.onnx"),
        "int8, weights of 7 bits": _dynamic(folded, folder / "int7.onnx", reduce_range=True),
    }


def _dynamic(folded, to, **more):
    """Quantises all large products to int8; the scale of the activations is computed in every run."""
    operators = ["MatMul", "Attention"]
    options = {"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT}
    quantize_dynamic(folded, to, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=operators, extra_options=options, **more)
    return to


def _int8_attention(folded, folder):
    """Quantises attention to int8, and the two feed-forward layers in blocks of 128 with one scale each."""
    from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

    model = onnx.load(folded)
    excluded = [node.name for node in model.graph.node if node.op_type == "MatMul" and not node.output[0].endswith(("ff1", "ff2"))]
    config = DefaultWeightOnlyQuantConfig(block_size=128, is_symmetric=True, accuracy_level=4, bits=8)
    blocks = MatMulNBitsQuantizer(model, nodes_to_exclude=excluded, algo_config=config)
    blocks.process()
    with_blocks, complete = folder / "half.onnx", folder / "mix.onnx"
    onnx.save(blocks.model.model, with_blocks)
    return _dynamic(with_blocks, complete)


def _weights_only(folded, to):
    """Stores weights in int8. They are dequantised at load; of the embedding table only the rows in use, in every run."""
    model = onnx.load(folded)
    large = {weight.name: weight for weight in model.graph.initializer if np.prod(weight.dims) >= MIN_QUANTISED and len(weight.dims) == 2}
    tables = {node.input[0] for node in model.graph.node if node.op_type == "Gather"}
    nodes = []
    for node in model.graph.node:
        if node.op_type == "Gather" and node.input[0] in large:
            nodes += _quantised_table(model, node, large[node.input[0]])
        else:
            nodes.append(node)
    for name, weight in large.items():
        if name not in tables:
            small, scale = _quantise(model, weight, axis=0)
            nodes[:0] = [
                helper.make_node("Cast", [small], [name + ".wide"], to=onnx.TensorProto.FLOAT),
                helper.make_node("Mul", [name + ".wide", scale], [name]),
            ]
    small_weights = [weight for weight in model.graph.initializer if weight.name not in large]
    del model.graph.node[:], model.graph.initializer[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(small_weights)
    onnx.save(model, to)
    return to


def _quantise(model, weight, axis):
    numbers = numpy_helper.to_array(weight)
    scale = np.abs(numbers).max(axis=axis, keepdims=True) / 127
    small, scales = weight.name + ".int8", weight.name + ".scale"
    rounded = np.round(numbers / np.maximum(scale, 1e-12)).astype(np.int8)
    model.graph.initializer.extend([numpy_helper.from_array(rounded, small), numpy_helper.from_array(scale.astype(np.float32), scales)])
    return small, scales


def _quantised_table(model, node, weight):
    small, scale = _quantise(model, weight, axis=1)
    out = node.output[0]
    return [
        helper.make_node("Gather", [small, node.input[1]], [out + ".int8"]),
        helper.make_node("Gather", [scale, node.input[1]], [out + ".scale"]),
        helper.make_node("Cast", [out + ".int8"], [out + ".wide"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", [out + ".wide", out + ".scale"], [out]),
    ]

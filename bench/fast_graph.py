#!/usr/bin/env python3
"""Writes daemon/src/embedding/graph-fast.onnx: the graph of the pinned model with each large product in 8-bit blocks.

    python3 -m venv V && V/bin/pip install onnx
    V/bin/python bench/fast_graph.py

The blocks are in a file that the daemon makes (daemon/src/embedding/blocks.rs); all other weights are in the pinned file. Attention is split
into the product with its three matrices, and what has no weights. Not here: the numbers of the blocks.
"""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

FOLDER = Path(__file__).resolve().parent.parent / "daemon" / "src" / "embedding"
BLOCKS = "blocks-1.bin"
BLOCK = 64
"""Numbers of a block, which share one scale. As in daemon/src/embedding/blocks.rs."""
HEADS, LAYERS, WIDTH, INNER = 12, 6, 384, 1536
MICROSOFT = "com.microsoft"
INT8_PRODUCTS = 4
"""The products are computed with 8-bit activations, one scale for each block of each token."""


def external(name, kind, shape, offset, length):
    """Returns a tensor in the file of the blocks."""
    tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", BLOCKS), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def products(layer):
    """Returns the products of a layer in the order of the file: the weight, its output and input sizes, the tensors of the graph."""
    weight, node = f"encoder.layer.{layer}.", f"l{layer}_"
    source = "emb" if layer == 0 else f"l{layer - 1}_ln2"
    attention = [(f"{weight}attention.self.{name}.weight", WIDTH, WIDTH, source, f"{node}{name}") for name in ("query", "key", "value")]
    return [
        *attention,
        (f"{weight}attention.output.dense.weight", WIDTH, WIDTH, f"{node}ctx", f"{node}o"),
        (f"{weight}intermediate.dense.weight", INNER, WIDTH, f"{node}ln1", f"{node}ff1"),
        (f"{weight}output.dense.weight", WIDTH, INNER, f"{node}gelu", f"{node}ff2"),
    ]


def in_blocks():
    """Returns the tensors of all blocks, and the products by their result."""
    tensors, replaced, offset = [], {}, 0
    for layer in range(LAYERS):
        for weight, outputs, inputs, source, result in products(layer):
            blocks, scales = f"{weight}.blocks", f"{weight}.scales"
            count = inputs // BLOCK
            tensors.append(external(blocks, TensorProto.UINT8, [outputs, count, BLOCK], offset, outputs * inputs))
            offset += outputs * inputs
            tensors.append(external(scales, TensorProto.FLOAT, [outputs * count], offset, 4 * outputs * count))
            offset += 4 * outputs * count
            attributes = dict(K=inputs, N=outputs, bits=8, block_size=BLOCK, accuracy_level=INT8_PRODUCTS)
            replaced[result] = helper.make_node("MatMulNBits", [source, blocks, scales], [result], name=result, domain=MICROSOFT, **attributes)
    return tensors, replaced


def main():
    """Replaces the products and writes the graph."""
    model = onnx.load(FOLDER / "graph.onnx", load_external_data=False)
    graph, (tensors, replaced) = model.graph, in_blocks()
    nodes, dropped = [], {product[0] for layer in range(LAYERS) for product in products(layer)}
    for node in graph.node:
        if node.op_type == "Transpose" or node.output[0].endswith("_wqkv"):
            continue
        if node.op_type == "Attention":
            source, _, bias, mask = node.input
            prefix = node.output[0].removesuffix("ctx")
            for name in ("query", "key", "value"):
                assert replaced[f"{prefix}{name}"].input[0] == source
                nodes.append(replaced[f"{prefix}{name}"])
            parts = [f"{prefix}query", f"{prefix}key", f"{prefix}value", bias, mask]
            nodes.append(helper.make_node("MultiHeadAttention", parts, node.output, name=node.output[0], domain=MICROSOFT, num_heads=HEADS))
        elif node.op_type == "MatMul" and node.output[0] in replaced:
            assert node.input[0] == replaced[node.output[0]].input[0]
            nodes.append(replaced[node.output[0]])
        else:
            nodes.append(node)
    kept = [tensor for tensor in graph.initializer if tensor.name not in dropped]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend([*kept, *tensors])
    (FOLDER / "graph-fast.onnx").write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()

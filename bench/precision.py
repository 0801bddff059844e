#!/usr/bin/env python3
"""Measures the model in fp32 and int8, with one and two threads: quality on the public test sets, and cost.

    python3 -m venv V && V/bin/pip install onnxruntime==1.27.0 onnx onnx_ir sympy numpy tokenizers snowballstemmer
    V/bin/python bench/precision.py              about half an hour
    V/bin/python bench/precision.py --write      the same, and writes it to docs/benchmarks.md

Uses the graph that the daemon runs, and its weights. The sets and the numpy reference of the ranking are stored next to the repository.
Memories are encoded in batches of similar length; of a long text the first 256 tokens. Not here: making the variants (variants.py).
"""

import argparse
import datetime
import json
import math
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
EVALS = REPOSITORY.parent / "shared" / "evals"
sys.dont_write_bytecode = True
sys.path.insert(0, str(EVALS / "reference"))

import numpy as np
import onnxruntime as ort
import process
import report
import variants
from snowballstemmer import stemmer
from tokenizers import Tokenizer

SETS = ("locomo", "realtalk", "cranfield")
TOKENS, THREADS = (8, 32, 128), (1, 2)
MAX_TOKENS, BATCH_TOKENS = 256, 512
TURNS, CALLS = 12, 12
"""Turns of each variant, and calls per turn."""


class Model:
    """One variant, opened as the daemon opens it."""

    def __init__(self, file, threads):
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.spin_duration_us", "10")
        options.add_session_config_entry("session.force_spinning_stop", "1")
        self._session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])

    def run(self, batch):
        """Returns sentence vectors and token states."""
        longest = max(map(len, batch))
        ids, mask = (np.zeros((len(batch), longest), np.int64) for _ in range(2))
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)], mask[row, : len(tokens)] = tokens, 1
        return self._session.run(["sentence_embedding", "token_states"], {"input_ids": ids, "attention_mask": mask})


def tokenizer(models):
    """The model's tokenizer without its default padding."""
    made = Tokenizer.from_file(str(models / "tokenizer.json"))
    made.no_padding()
    made.enable_truncation(MAX_TOKENS)
    return made


def batches(encoded):
    """Indices in batches of similar length, shortest first; the daemon's batches differ slightly."""
    made = []
    for at in sorted(range(len(encoded)), key=lambda at: len(encoded[at].ids)):
        size = len(encoded[at].ids)
        if made and (len(made[-1]) + 1) * size <= BATCH_TOKENS and size <= 2 * len(encoded[made[-1][0]].ids) + 16:
            made[-1].append(at)
        else:
            made.append([at])
    return made


def encode(model, encoded, texts, begins, alone):
    """Returns vector, words and sign codes of each text."""
    import soft

    found = [None] * len(texts)
    for run in [[at] for at in range(len(texts))] if alone else batches(encoded):
        vectors, states = model.run([encoded[at].ids for at in run])
        for at, vector, rows in zip(run, vectors, states):
            spans = encoded[at].offsets
            # [CLS] and [SEP] are not words.
            found[at] = vector, *soft.word_codes(texts[at], begins[at], rows[1 : len(spans) - 1], spans[1:-1])
    return found


def metrics(order, units, relevant):
    """R@10 and nDCG@10; a unit counts at its first rank."""
    first, seen = [], set()
    for place, at in enumerate(order):
        if units[at] in relevant and units[at] not in seen:
            seen.add(units[at])
            first.append(place)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(len(relevant), 10)))
    return sum(place < 10 for place in first) / len(relevant), sum(1 / math.log2(place + 2) for place in first if place < 10) / ideal


def quality(file, name, words):
    """Means over the questions of a set by ranking: R@10 and nDCG@10 in percent."""
    import rank
    import soft

    model, figures, stem = Model(file, 2), defaultdict(list), stemmer("porter").stemWord
    rows = lambda which: [json.loads(line) for line in open(EVALS / "data" / "dev" / name / which)]
    corpus, queries = rows("corpus.jsonl"), [query for query in rows("queries.jsonl") if query["category"] != "adversarial"]
    for group in sorted({item["group"] for item in corpus}):
        items, asked = ([one for one in all_of if one["group"] == group] for all_of in (corpus, queries))
        dated = [item["time"][:10] if item.get("time") else "" for item in items]
        texts = [f"[{day}] {item['text']}" if day else item["text"] for day, item in zip(dated, items)]
        days = np.array([datetime.date.fromisoformat(day).toordinal() if day else 0 for day in dated])
        begins = [soft.PREFIX.match(text).end() for text in texts]
        vectors, _, codes = zip(*encode(model, words.encode_batch(texts), texts, begins, alone=False))
        vectors, units = np.array(vectors), [item["unit"] for item in items]
        store, low = soft.Store(texts, vectors, list(codes), days, stem), rank.Bm25(texts, stem, 0.9, 0.3)
        questions = [query["text"] for query in asked]
        for query, (vector, own, code) in zip(asked, encode(model, words.encode_batch(questions), questions, [0] * len(asked), alone=True)):
            by_soft = soft.scores(store, query["text"], vector, own, code)
            by_weighted = rank.c5(vectors, vector, low, query["text"])
            for ranking, scores in (("soft", by_soft), ("weighted", by_weighted)):
                figures[ranking].append(metrics(np.argsort(-scores, kind="stable")[:20], units, set(query["relevant"])))
    return {ranking: 100 * np.mean(all_of, axis=0) for ranking, all_of in figures.items()}


def costs(files, tokens):
    """CPU time (median of interleaved turns) and wall time (best turn) of one query in ms, by variant, threads and tokens."""
    models = {(name, threads): Model(file, threads) for name, file in files.items() for threads in THREADS}
    cpu, wall = defaultdict(list), defaultdict(list)
    for turn in range(TURNS + 1):
        for (name, threads), model in models.items():
            for size in TOKENS:
                queries = [[tokens[(turn * CALLS + call) * size :][:size]] for call in range(CALLS)]
                spent, began = time.process_time(), time.perf_counter()
                for query in queries:
                    model.run(query)
                if turn > 0:
                    cpu[name, threads, size].append(1000 * (time.process_time() - spent) / CALLS)
                    wall[name, threads, size].append(1000 * (time.perf_counter() - began) / CALLS)
    return {key: np.median(all_of) for key, all_of in cpu.items()}, {key: min(all_of) for key, all_of in wall.items()}


def resident(file):
    """Resident MiB of a process that has loaded the variant and encoded 256 tokens."""
    code = f"import sys; sys.dont_write_bytecode = True; sys.path[:0] = {sys.path[:2]!r}\nimport precision\nprecision.Model({str(file)!r}, 2).run([[7] * 256])\n"
    code += "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmRSS')))"
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) / 1024


def size(file, weights):
    """MiB on disk, including the weights file where the graph references it."""
    return (file.stat().st_size + (weights.stat().st_size if file.parent == weights.parent else 0)) / 1024 / 1024


def section(files, found, spent, weights):
    """Formats the section of docs/benchmarks.md."""
    cpu, wall = spent
    both = lambda figures: " / ".join(f"{figure:.1f}" for figure in figures)
    answers = [[f"{name}, {ranking}", *[both(found[name][which][ranking]) for which in SETS]] for name in files for ranking in ("soft", "weighted")]
    pairs = lambda table, name, tokens: " / ".join(f"{table[name, threads, tokens]:.1f}" for threads in THREADS)
    times = [[name, *[pairs(cpu, name, tokens) for tokens in TOKENS]] for name in files]
    waits = [[name, *[pairs(wall, name, tokens) for tokens in TOKENS]] for name in files]
    sizes = [[name, size(file, weights), resident(file)] for name, file in files.items()]
    of_tokens = [f"{tokens} tokens" for tokens in TOKENS]
    return f"""\
## Quantised variants of the model

R@10 / nDCG@10 on the DEV halves, by the numpy reference of the ranking; percent.

{report.table(["", *SETS], answers)}

CPU ms of one query with one thread / with two, all variants interleaved; medians of {TURNS} turns.

{report.table(["", *of_tokens], times)}

The same as wall time, the best turn of each, since other work ran on the machine.

{report.table(["", *of_tokens], waits)}

Size: the file with its weights, and a Python process (about 45 MiB by itself) that has encoded 256 tokens.

{report.table(["", "file MiB", "resident MiB"], sizes)}
"""


def main():
    """Measures, prints, and writes with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default=str(Path.home() / ".loci/models/all-MiniLM-L6-v2"), metavar="DIR", help="folder of the model")
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    chosen = parser.parse_args()
    models = Path(chosen.models)
    graph = models / "graph-2.onnx"
    if graph.read_bytes() != (REPOSITORY / "daemon/src/embedding/graph.onnx").read_bytes():
        sys.exit("Error: the graph in the models folder differs from this source\nHint: Start the daemon once")
    words = tokenizer(models)
    with tempfile.TemporaryDirectory() as folder:
        files = variants.make(graph, Path(folder))
        texts = " ".join(json.loads(line)["text"] for line in open(EVALS / "data" / "dev" / "realtalk" / "queries.jsonl"))
        words.no_truncation()
        tokens = words.encode(texts).ids * 10
        words.enable_truncation(MAX_TOKENS)
        spent, found = costs(files, tokens), defaultdict(dict)
        for name, file in files.items():
            for which in SETS:
                found[name][which] = quality(file, which, words)
                print(name, which, found[name][which], file=sys.stderr)
        text = section(files, found, spent, models / "model.safetensors")
    version = f"ONNX Runtime {ort.__version__}"
    text += "\n" + report.source(version, process.machine(), "python bench/precision.py", datetime.date.today().isoformat())
    print(text)
    if chosen.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "precision", text)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the model in fp32 and int8, with one and two threads: quality on the public test sets, and cost.

    python3 -m venv V && V/bin/pip install onnxruntime==1.27.0 onnx onnx_ir sympy numpy tokenizers snowballstemmer
    V/bin/python bench/precision.py              about half an hour
    V/bin/python bench/precision.py --write      the same, and writes it to docs/benchmarks.md

Uses the graph that the daemon runs, and its weights. The sets and the numpy reference of the ranking are in a folder next to the repository.
Memories are encoded in batches of similar length; long texts are cut after 256 tokens. Not here: making the variants (variants.py).
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
ROUNDS, CALLS = 12, 12
"""Rounds in which the variants alternate, and calls of each variant in a round."""


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
    result = Tokenizer.from_file(str(models / "tokenizer.json"))
    result.no_padding()
    result.enable_truncation(MAX_TOKENS)
    return result


def batches(encoded):
    """Returns the indices of texts in batches of similar length, shortest first; the daemon's batches differ slightly."""
    result = []
    for index in sorted(range(len(encoded)), key=lambda index: len(encoded[index].ids)):
        size = len(encoded[index].ids)
        if result and (len(result[-1]) + 1) * size <= BATCH_TOKENS and size <= 2 * len(encoded[result[-1][0]].ids) + 16:
            result[-1].append(index)
        else:
            result.append([index])
    return result


def encode(model, encoded, texts, begins, one_by_one):
    """Returns vector, words and sign codes of each text. `begins`: the position after the date and speaker of each text."""
    import soft

    encodings = [None] * len(texts)
    for batch in [[index] for index in range(len(texts))] if one_by_one else batches(encoded):
        vectors, states = model.run([encoded[index].ids for index in batch])
        for index, vector, rows in zip(batch, vectors, states):
            spans = encoded[index].offsets
            # [CLS] and [SEP] are not words.
            encodings[index] = vector, *soft.word_codes(texts[index], begins[index], rows[1 : len(spans) - 1], spans[1:-1])
    return encodings


def metrics(order, units, relevant):
    """Returns R@10 and nDCG@10; a unit counts at its first rank."""
    ranks, seen = [], set()
    for rank, index in enumerate(order):
        if units[index] in relevant and units[index] not in seen:
            seen.add(units[index])
            ranks.append(rank)
    gain = lambda rank: 1 / math.log2(rank + 2)
    ideal = sum(gain(rank) for rank in range(min(len(relevant), 10)))
    return sum(rank < 10 for rank in ranks) / len(relevant), sum(gain(rank) for rank in ranks if rank < 10) / ideal


def quality(file, name, words):
    """Means over the questions of a set by ranking: R@10 and nDCG@10 in percent."""
    import rank
    import soft

    model, figures, stem = Model(file, 2), defaultdict(list), stemmer("porter").stemWord
    rows = lambda which: [json.loads(line) for line in open(EVALS / "data" / "dev" / name / which)]
    corpus, queries = rows("corpus.jsonl"), [query for query in rows("queries.jsonl") if query["category"] != "adversarial"]
    for group in sorted({item["group"] for item in corpus}):
        items, group_queries = ([line for line in lines if line["group"] == group] for lines in (corpus, queries))
        dated = [item["time"][:10] if item.get("time") else "" for item in items]
        texts = [f"[{day}] {item['text']}" if day else item["text"] for day, item in zip(dated, items)]
        days = np.array([datetime.date.fromisoformat(day).toordinal() if day else 0 for day in dated])
        begins = [soft.PREFIX.match(text).end() for text in texts]
        vectors, _, codes = zip(*encode(model, words.encode_batch(texts), texts, begins, one_by_one=False))
        vectors, units = np.array(vectors), [item["unit"] for item in items]
        store, bm25 = soft.Store(texts, vectors, list(codes), days, stem), rank.Bm25(texts, stem, 0.9, 0.3)
        questions = [query["text"] for query in group_queries]
        query_encodings = encode(model, words.encode_batch(questions), questions, [0] * len(questions), one_by_one=True)
        for query, (vector, query_words, query_codes) in zip(group_queries, query_encodings):
            by_soft = soft.scores(store, query["text"], vector, query_words, query_codes)
            by_weighted = rank.c5(vectors, vector, bm25, query["text"])
            for ranking, scores in (("soft", by_soft), ("weighted", by_weighted)):
                figures[ranking].append(metrics(np.argsort(-scores, kind="stable")[:20], units, set(query["relevant"])))
    return {ranking: 100 * np.mean(values, axis=0) for ranking, values in figures.items()}


def costs(files, tokens):
    """CPU time (median of the rounds) and wall time (best round) of one query in ms, by variant, threads and tokens."""
    models = {(name, threads): Model(file, threads) for name, file in files.items() for threads in THREADS}
    cpu, wall = defaultdict(list), defaultdict(list)
    for round_number in range(ROUNDS + 1):
        for (name, threads), model in models.items():
            for size in TOKENS:
                queries = [[tokens[(round_number * CALLS + call) * size :][:size]] for call in range(CALLS)]
                cpu_start, wall_start = time.process_time(), time.perf_counter()
                for query in queries:
                    model.run(query)
                # The first round only warms the caches.
                if round_number > 0:
                    cpu[name, threads, size].append(1000 * (time.process_time() - cpu_start) / CALLS)
                    wall[name, threads, size].append(1000 * (time.perf_counter() - wall_start) / CALLS)
    return {key: np.median(times) for key, times in cpu.items()}, {key: min(times) for key, times in wall.items()}


def resident_mib(file):
    """Resident MiB of a process that has loaded the variant and encoded 256 tokens."""
    code = f"import sys; sys.dont_write_bytecode = True; sys.path[:0] = {sys.path[:2]!r}\nimport precision\nprecision.Model({str(file)!r}, 2).run([[7] * 256])\n"
    code += "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmRSS')))"
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) / 1024


def file_mib(file, weights):
    """MiB on disk, including the weights file where the graph references it."""
    return (file.stat().st_size + (weights.stat().st_size if file.parent == weights.parent else 0)) / 1024 / 1024


def section(files, qualities, times, weights):
    """Formats the section of docs/benchmarks.md."""
    cpu, wall = times
    both = lambda figures: " / ".join(f"{figure:.1f}" for figure in figures)
    answers = [[f"{name}, {ranking}", *[both(qualities[name][which][ranking]) for which in SETS]] for name in files for ranking in ("soft", "weighted")]
    pairs = lambda table, name, tokens: " / ".join(f"{table[name, threads, tokens]:.1f}" for threads in THREADS)
    cpu_rows = [[name, *[pairs(cpu, name, tokens) for tokens in TOKENS]] for name in files]
    wall_rows = [[name, *[pairs(wall, name, tokens) for tokens in TOKENS]] for name in files]
    sizes = [[name, file_mib(file, weights), resident_mib(file)] for name, file in files.items()]
    columns = [f"{tokens} tokens" for tokens in TOKENS]
    return f"""\
## Quantised variants of the model

R@10 / nDCG@10 on the DEV halves, by the numpy reference of the ranking; percent.

{report.table(["", *SETS], answers)}

CPU ms of one query with one thread / with two, all variants interleaved; medians of {ROUNDS} rounds.

{report.table(["", *columns], cpu_rows)}

The same as wall time, the best round of each, since other work ran on the machine.

{report.table(["", *columns], wall_rows)}

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
        times, qualities = costs(files, tokens), defaultdict(dict)
        for name, file in files.items():
            for which in SETS:
                qualities[name][which] = quality(file, which, words)
                print(name, which, qualities[name][which], file=sys.stderr)
        text = section(files, qualities, times, models / "model.safetensors")
    version = f"ONNX Runtime {ort.__version__}"
    text += "\n" + report.source(version, process.machine(), "python bench/precision.py", datetime.date.today().isoformat())
    print(text)
    if chosen.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "precision", text)


if __name__ == "__main__":
    main()

# Lists the recipes.
default:
    @just --list

# Builds loci, then stores and finds memories in a temporary home.
demo:
    cargo build --release --locked && target/release/loci demo

# Runs every test.
test:
    tests/run.sh

# Runs clippy and, if installed, cargo-deny (licences and advisories of dependencies).
lint:
    cargo clippy --release --all-targets --locked -- -D warnings
    if command -v cargo-deny >/dev/null; then cargo deny check; else echo "cargo-deny is not installed: dependencies were not checked"; fi

# Collects a release in a folder: binaries, bill of materials, checksums.
release folder="target/dist":
    cargo build --release --locked
    release/checksums.sh target/release {{folder}}

# Compares start, store and recall of two builds in turns; `old` is a folder with loci and locid.
against old *flags:
    cargo build --release --locked
    python3 bench/against.py --old {{old}} --new target/release {{flags}}

# Formats the code.
fmt:
    cargo fmt

# Measures time and memory; `--quick` measures less, `--write` updates docs/benchmarks.md.
bench *flags:
    cargo build --release --locked
    python3 bench/run.py {{flags}}

# Measures the search quality on the public test sets; they must be in a folder next to the repository.
quality *flags:
    cargo build --release --locked
    python3 bench/run.py --quality {{flags}}

# Stores and recalls memories with real MCP clients.
clients:
    cargo build --release --locked
    tests/clients/run.sh

# Kills the daemon, 2000 times by default, while eight sessions send calls.
torture kills="2000":
    LOCI_KILLS={{kills}} cargo test --release --locked -p loci-tests --test it -- torture --nocapture

# Changes this many bytes of a database one at a time, and prints what came of them.
flips count="500":
    FLIPPED_BYTES={{count}} cargo test --release --locked -p loci-engine -- flipped_bytes --nocapture

# Runs MCP's conformance suite.
conformance *scenario:
    tests/clients/conformance.sh {{scenario}}

# Fuzzes the line parser of the relay.
fuzz seconds="60":
    tests/fuzz/run.sh {{seconds}}

# Measures how often the answer is found in the test sets of tests/data: several languages, relations, dates and events.
finding *flags:
    cargo build --release --locked
    python3 bench/finding.py {{flags}}

# Runs the ablation study on the public test sets; they must be in a folder next to the repository.
ablation *flags:
    python3 bench/ablation.py {{flags}}

# Compares loci with similar servers.
rivals *flags:
    cargo build --release --locked
    python3 bench/rivals.py {{flags}}

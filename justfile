# Lists the recipes.
default:
    @just --list

# Builds loci, then stores and finds memories in a temporary home.
demo:
    cargo build --release --locked && target/release/loci demo

# Runs every test.
test:
    tests/run.sh

# Builds loci with encryption at rest and tests it; compiles OpenSSL once, which takes minutes.
encrypted *flags:
    tests/encrypted.sh {{flags}}

# Runs clippy and, if installed, cargo-deny (licences and advisories of dependencies).
lint:
    cargo clippy --release --all-targets --locked -- -D warnings
    if command -v cargo-deny >/dev/null; then cargo deny check; else echo "cargo-deny is not installed: dependencies were not checked"; fi

# Collects a release in a folder: binaries, bill of materials, checksums.
release folder="target/dist":
    cargo build --release --locked
    release/checksums.sh target/release {{folder}}

# Builds the packages that this machine can build, and uses each in a temporary home.
packages *kinds:
    cargo build --release --locked
    tests/packages/run.py {{kinds}}

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
    cargo build --release --locked
    LOCI_KILLS={{kills}} cargo test --release --locked -p loci-tests --test it -- torture --nocapture

# Changes this many bytes of a database one at a time, and prints what came of them.
flips count="500":
    FLIPPED_BYTES={{count}} cargo test --release --locked -p loci-engine -- flipped_bytes --nocapture

# Lets every named place of the engine fail at each of its hits, with an error and with the death of the process.
failpoints:
    FAILPOINTS=all cargo test --release --locked -p loci-engine --lib -- failpoints --nocapture

# Opens the files of a busy daemon in many states that a loss of power may leave.
power-loss images="20000":
    cargo build --release --locked
    LOCI_IMAGES={{images}} cargo test --release --locked -p loci-tests --test it -- power_loss --nocapture

# Fails writes and syncs of the daemon on each of its files.
faults:
    cargo build --release --locked
    LOCI_FAULTS=all cargo test --release --locked -p loci-tests --test it -- fault_matrix --nocapture

# Checks histories of sixteen sessions on a daemon that is killed.
histories count="1000" operations="500":
    cargo build --release --locked
    LOCI_HISTORIES={{count}} LOCI_OPERATIONS={{operations}} cargo test --release --locked -p loci-tests --test it -- history --nocapture

# Compares the store with a naive model in random sequences of commands.
state-machine cases="10000":
    STATE_MACHINE_CASES={{cases}} cargo test --release --locked -p loci-engine --lib -- state_machine --nocapture

# Opens many sessions, and checks that memory, descriptors and threads stay.
soak connections="10000" calls="100000":
    cargo build --release --locked
    LOCI_CONNECTIONS={{connections}} LOCI_CALLS={{calls}} cargo test --release --locked -p loci-tests --test it -- soak --nocapture

# Puts deliberate bugs into a copy of the code, and runs the tests that must fail.
mutants *names:
    tests/mutants.py {{names}}

# Runs MCP's conformance suite.
conformance *scenario:
    tests/clients/conformance.sh {{scenario}}

# Fuzzes one target of tests/fuzz, or all, each for so many seconds.
fuzz seconds="60" *targets:
    tests/fuzz/run.sh {{seconds}} {{targets}}

# Mutates the corpora of the fuzz targets without libFuzzer, all targets at the same time.
fuzz-corpora seconds="300":
    LOCI_FUZZ_SECONDS={{seconds}} cargo test --release --locked -p loci-tests --test it -- fuzz_corpus --nocapture

# Measures how often the answer is found in the test sets of tests/data: several languages, relations, dates and events.
finding *flags:
    cargo build --release --locked
    python3 bench/finding.py {{flags}}

# Whether the right memory comes first and silence is right, for builds given as NAME=LOCI
judge *builds:
    python3 bench/judge.py {{builds}}

# Runs the ablation study on the public test sets; they must be in a folder next to the repository.
ablation *flags:
    python3 bench/ablation.py {{flags}}

# Compares loci with similar servers.
rivals *flags:
    cargo build --release --locked
    python3 bench/rivals.py {{flags}}

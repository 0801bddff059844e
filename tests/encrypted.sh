#!/bin/sh
# Builds loci with encryption at rest into a target folder of its own, and tests it. Its OpenSSL is compiled once, which takes minutes.
# CARGO_TARGET_DIR chooses another folder; OPENSSL_NO_VENDOR=1 uses the OpenSSL of the system.
set -eu
cd "$(dirname "$0")/.."
CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target/encrypted}
export CARGO_TARGET_DIR
cargo build --release --locked --features loci-local/encrypted
cargo test --release --locked -p loci-engine --features encrypted --lib -- encrypt
LOCI_TEST_BINARIES=$CARGO_TARGET_DIR/release
export LOCI_TEST_BINARIES
cargo test --release --locked -p loci-tests --features encrypted --test it -- encrypted "$@"

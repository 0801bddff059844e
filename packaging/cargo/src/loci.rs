//! The binary `loci`. Everything is in the crate of that name, so that its size settings apply.

fn main() -> std::process::ExitCode {
    loci::program::main()
}

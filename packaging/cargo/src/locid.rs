//! The binary `locid`. Everything is in the crate of that name.

fn main() -> std::process::ExitCode {
    locid::program::main()
}

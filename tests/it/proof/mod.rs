//! What the proofs of durability share: mixed calls of a session, the state that acknowledged calls
//! must leave, and the state that a database has.
//!
//! Not here: any test, and any fault (`torture`, `power_loss`, `fault_matrix`, `history`).

pub mod effect;
pub mod mutation;
pub mod random;
pub mod session;
pub mod stored;

/// Returns a number from the environment, for the long form of a test.
pub fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Returns a temporary folder in memory where the system has one: for many stores that need no disk.
pub fn folder_in_memory() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
    tempfile::tempdir_in(folder).expect("the folder is created")
}

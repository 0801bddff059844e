//! The processes above this one: the daemon finds by them which MCP session belongs to the same client.

/// Maximum number of processes.
const MAX_LEVELS: usize = 6;

/// Returns the processes above this one, the nearest first, without process 1. Only Linux shows more than the nearest.
#[must_use]
pub fn ancestors_of_process() -> Vec<u32> {
    let mut ancestors = Vec::new();
    let mut next = Some(std::os::unix::process::parent_id());
    while let Some(pid) = next.filter(|pid| *pid > 1 && ancestors.len() < MAX_LEVELS) {
        ancestors.push(pid);
        next = parent_of(pid);
    }
    ancestors
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may contain anything; the state and the parent follow the last bracket.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_ancestor_is_the_parent() {
        assert_eq!(ancestors_of_process().first(), Some(&std::os::unix::process::parent_id()));
        assert!(ancestors_of_process().len() <= MAX_LEVELS);
    }
}

//! The processes above this one. They mark a command as an agent's, and tell the daemon which MCP session belongs to a hook.

/// Maximum number of ids that a hook sends.
const MAX_IDS: usize = 6;
/// Maximum number of processes that are looked at.
const MAX_LEVELS: usize = 64;
/// Maximum number of arguments of a process that are looked at.
const MAX_ARGUMENTS: usize = 8;

/// A process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub id: u32,
    /// What the system calls it: the name of its program, unless it has changed that.
    pub name: String,
    /// Its first arguments, with the program.
    pub arguments: Vec<String>,
}

/// Returns the ids of the nearest processes above this one, the nearest first, without process 1. Only Linux shows more than the nearest.
#[must_use]
pub fn ids_above() -> Vec<u32> {
    let mut ids = Vec::new();
    let mut next = Some(std::os::unix::process::parent_id());
    while let Some(id) = next.filter(|id| *id > 1 && ids.len() < MAX_IDS) {
        ids.push(id);
        next = stat(id).map(|(_, parent)| parent);
    }
    ids
}

/// Returns the processes above this one, the nearest first; `None` where the system does not show them.
#[must_use]
pub fn above() -> Option<Vec<Process>> {
    let parent = std::os::unix::process::parent_id();
    let read = if cfg!(target_os = "linux") { of_proc } else { of_ps };
    let found = read(parent);
    // The parent of the first process of a container is outside.
    (!found.is_empty() || parent == 0).then_some(found)
}

fn of_proc(mut next: u32) -> Vec<Process> {
    let mut found = Vec::new();
    while let (true, Some((name, parent))) = (found.len() < MAX_LEVELS, stat(next)) {
        let bytes = std::fs::read(format!("/proc/{next}/cmdline")).unwrap_or_default();
        let arguments = bytes.split(|byte| *byte == 0).take(MAX_ARGUMENTS);
        let arguments = arguments.map(|one| String::from_utf8_lossy(one).into_owned()).collect();
        found.push(Process { id: next, name, arguments });
        next = parent;
    }
    found
}

/// Returns name and parent of a process.
fn stat(id: u32) -> Option<(String, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in brackets, may contain anything; the state and the parent follow the last bracket.
    let (before, after) = stat.rsplit_once(')')?;
    let parent = after.split_whitespace().nth(1)?.parse().ok()?;
    Some((before.split_once('(')?.1.to_owned(), parent))
}

/// Asks `ps`, where the system has no `/proc`.
fn of_ps(parent: u32) -> Vec<Process> {
    let output =
        std::process::Command::new("ps").args(["-axww", "-o", "pid=,ppid=,args="]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    chain(&text.unwrap_or_default(), parent)
}

/// Returns a process and those above it, from lines with id, parent and arguments.
fn chain(lines: &str, mut next: u32) -> Vec<Process> {
    let rows: Vec<(u32, u32, &str)> = lines.lines().filter_map(row).collect();
    let mut found = Vec::new();
    while let Some((id, parent, rest)) = rows.iter().find(|row| row.0 == next)
        && found.len() < MAX_LEVELS
    {
        let arguments = rest.split_whitespace().take(MAX_ARGUMENTS).map(str::to_owned).collect();
        found.push(Process { id: *id, name: String::new(), arguments });
        next = *parent;
    }
    found
}

fn row(line: &str) -> Option<(u32, u32, &str)> {
    let (id, rest) = line.trim_start().split_once(' ')?;
    let (parent, rest) = rest.trim_start().split_once(' ')?;
    Some((id.parse().ok()?, parent.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_process_is_the_parent() {
        let parent = std::os::unix::process::parent_id();
        assert_eq!(ids_above().first(), Some(&parent));
        assert!(ids_above().len() <= MAX_IDS);
        let above = above().expect("the system shows them");
        assert_eq!(above[0].id, parent);
        assert!(!above[0].arguments.is_empty());
    }

    #[test]
    fn ps_shows_the_same_chain() {
        let lines = "    1     0 /sbin/launchd\n  501     1 -zsh\n  777   501 node /usr/local/bin/gemini --yolo\n  778   777 sh -c loci add x\n";
        let chain = chain(lines, 778);
        assert_eq!(chain.iter().map(|one| one.id).collect::<Vec<_>>(), [778, 777, 501, 1]);
        assert_eq!(chain[1].arguments, ["node", "/usr/local/bin/gemini", "--yolo"]);
        assert!(super::chain(lines, 9).is_empty());
        assert_eq!(super::chain("7 7 loop\n", 7).len(), MAX_LEVELS);
    }
}

//! Parses `/proc/self/smaps` of Linux: which mappings are unmodified parts of a file, and which anonymous mappings are fully resident.
//!
//! Not here: reading `/proc`, `madvise` (`resident_memory`).

use std::ops::Range;

/// A mapped part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MappedFile<'a> {
    /// Its address range.
    pub(crate) range: Range<usize>,
    /// Path of the file.
    pub(crate) file: &'a str,
}

/// Returns the mapped parts of files of which no page has been written to, neither by the process nor by a debugger.
pub(crate) fn unmodified(smaps: &str) -> Vec<MappedFile<'_>> {
    let (mut unmodified, mut mapping) = (Vec::new(), None);
    for line in smaps.lines() {
        match line.split_ascii_whitespace().next() {
            Some("Anonymous:") if line.ends_with(" 0 kB") => unmodified.extend(mapping.take()),
            Some(word) if !word.ends_with(':') => mapping = parse_mapped_file(line),
            _ => {}
        }
    }
    unmodified
}

/// Returns the anonymous writable mappings without a name that are fully resident (`Rss` equals `Size`).
pub(crate) fn fully_resident(smaps: &str) -> Vec<Range<usize>> {
    let (mut resident, mut mapping, mut size) = (Vec::new(), None, "");
    for line in smaps.lines() {
        let mut columns = line.split_ascii_whitespace();
        match columns.next() {
            Some("Size:") => size = columns.next().unwrap_or_default(),
            Some("Rss:") if columns.next() == Some(size) => resident.extend(mapping.take()),
            Some(word) if !word.ends_with(':') => mapping = parse_anonymous(line),
            _ => {}
        }
    }
    resident
}

/// Parses the first line of a mapping; `None` unless it is anonymous, private, writable and without a name.
fn parse_anonymous(line: &str) -> Option<Range<usize>> {
    let mut columns = line.split_ascii_whitespace();
    let range = parse_range(columns.next()?)?;
    let (permissions, inode) = (columns.next()?, columns.nth(2)?);
    (permissions == "rw-p" && inode == "0" && columns.next().is_none()).then_some(range)
}

fn parse_range(range: &str) -> Option<Range<usize>> {
    let (start, end) = range.split_once('-')?;
    let address = |hex| usize::from_str_radix(hex, 16).ok();
    Some(address(start)?..address(end)?)
}

/// Parses the first line of a mapping; `None` unless it maps a file.
fn parse_mapped_file(line: &str) -> Option<MappedFile<'_>> {
    let mut columns = line.splitn(6, ' ');
    let range = parse_range(columns.next()?)?;
    let is_of_a_file = columns.nth(3).is_some_and(|inode| inode != "0");
    let file = columns.next().unwrap_or_default().trim_start();
    is_of_a_file.then_some(MappedFile { range, file })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "\
55d0a0000000-55d0a0010000 r--p 00000000 fe:00 77                         /bin/loci
Anonymous:             8 kB
55d0a0010000-55d0a0030000 r-xp 00010000 fe:00 77                         /bin/loci
Size:                128 kB
Anonymous:             0 kB
7f0000000000-7f0000002000 r-xp 00000000 fe:00 78                         /lib/with a breakpoint.so
Anonymous:             4 kB
7f0000004000-7f0000006000 r-xp 00000000 00:00 0
Anonymous:             0 kB
7f0000008000-7f000000a000 rw-p 00000000 fe:00 78                         /lib/with a space.so
Anonymous:             0 kB
";

    #[test]
    fn only_unmodified_files_are_returned() {
        let expected = [
            (0x55d0_a001_0000..0x55d0_a003_0000, "/bin/loci"),
            (0x7f00_0000_8000..0x7f00_0000_a000, "/lib/with a space.so"),
        ];
        let expected = expected.map(|(range, file)| MappedFile { range, file });
        assert_eq!(unmodified(SMAPS), expected);
        assert_eq!(unmodified("nonsense\n\n- r-xp\nAnonymous: 0 kB"), []);
    }

    #[test]
    fn only_anonymous_mappings_without_a_name_can_be_fully_resident() {
        let smaps = "\
7f0000000000-7f0000800000 rw-p 00000000 00:00 0 
Size:               8192 kB
Rss:                8192 kB
7f0001000000-7f0001800000 rw-p 00000000 00:00 0 
Size:               8192 kB
Rss:                8188 kB
7f0002000000-7f0002800000 rw-p 00000000 00:00 0                          [stack]
Size:               8192 kB
Rss:                8192 kB
7f0003000000-7f0003800000 ---p 00000000 00:00 0 
Size:               8192 kB
Rss:                8192 kB
7f0004000000-7f0004800000 rw-p 00000000 fe:00 78                         /lib/with a space.so
Size:               8192 kB
Rss:                8192 kB
7f0005000000-7f0005800000 rw-p 00000000 00:00 0 
Size:               8192 kB
Rss:                8192 kB
";
        assert_eq!(
            fully_resident(smaps),
            [0x7f00_0000_0000..0x7f00_0080_0000, 0x7f00_0500_0000..0x7f00_0580_0000]
        );
        assert!(fully_resident("nonsense\n\n- rw-p\nRss: 0 kB\nSize: 4 kB\nRss: 4 kB").is_empty());
    }
}

//! What stands where in the memory of a process, as `/proc/self/smaps` of Linux tells it. Pure: the text is read elsewhere.
//!
//! Both programs give back what they have of a file and do not need for now; the kernel has it all the same. The daemon has what it reads
//! all the time in large pages. Not here: giving back, asking.

use std::ops::Range;

/// A part of a file in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapped<'a> {
    /// Its addresses.
    pub range: Range<usize>,
    /// `rwxp`, with `-` for what is not allowed; the last letter is `s` where others see what is written.
    pub permissions: &'a str,
    /// The path.
    pub file: &'a str,
}

/// The parts of files that are as the files have them: the process has written to none of their pages, and no debugger has.
#[must_use]
pub fn unchanged(smaps: &str) -> Vec<Mapped<'_>> {
    let (mut found, mut last) = (Vec::new(), None);
    for line in smaps.lines() {
        match line.split_ascii_whitespace().next() {
            Some("Anonymous:") if line.ends_with(" 0 kB") => found.extend(last.take()),
            Some(word) if !word.ends_with(':') => last = mapped(line),
            _ => {}
        }
    }
    found
}

/// Memory of no file and without a name that the process can write to, and that is there to the last byte.
#[must_use]
pub fn filled(smaps: &str) -> Vec<Range<usize>> {
    let (mut found, mut last, mut size) = (Vec::new(), None, "");
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("Size:") => size = words.next().unwrap_or_default(),
            Some("Rss:") if words.next() == Some(size) => found.extend(last.take()),
            Some(word) if !word.ends_with(':') => last = nameless(line),
            _ => {}
        }
    }
    found
}

fn nameless(line: &str) -> Option<Range<usize>> {
    let mut words = line.split_ascii_whitespace();
    let range = addresses(words.next()?)?;
    let (permissions, inode) = (words.next()?, words.nth(2)?);
    (permissions == "rw-p" && inode == "0" && words.next().is_none()).then_some(range)
}

fn addresses(range: &str) -> Option<Range<usize>> {
    let (start, end) = range.split_once('-')?;
    let address = |hex| usize::from_str_radix(hex, 16).ok();
    Some(address(start)?..address(end)?)
}

fn mapped(line: &str) -> Option<Mapped<'_>> {
    let mut words = line.splitn(6, ' ');
    let range = addresses(words.next()?)?;
    let permissions = words.next()?;
    let is_of_a_file = words.nth(2).is_some_and(|inode| inode != "0");
    let file = words.next().unwrap_or_default().trim_start();
    is_of_a_file.then_some(Mapped { range, permissions, file })
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
    fn only_what_is_as_the_file_has_it_is_told() {
        let expected = [
            (0x55d0_a001_0000..0x55d0_a003_0000, "r-xp", "/bin/loci"),
            (0x7f00_0000_8000..0x7f00_0000_a000, "rw-p", "/lib/with a space.so"),
        ];
        let expected =
            expected.map(|(range, permissions, file)| Mapped { range, permissions, file });
        assert_eq!(unchanged(SMAPS), expected);
        assert_eq!(unchanged("nonsense\n\n- r-xp\nAnonymous: 0 kB"), []);
    }

    #[test]
    fn only_what_is_nobodys_and_there_to_the_last_byte_is_filled() {
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
            filled(smaps),
            [0x7f00_0000_0000..0x7f00_0080_0000, 0x7f00_0500_0000..0x7f00_0580_0000]
        );
        assert_eq!(filled("nonsense\n\n- rw-p\nRss: 0 kB\nSize: 4 kB\nRss: 4 kB"), []);
    }
}

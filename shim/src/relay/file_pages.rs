//! Drops the pages of programs and libraries from this process's memory.
//!
//! A session waits most of the time. Pages of code and constants are file-backed and clean: the kernel keeps them in the page cache and
//! maps them again on access. Linux only. Not here: when (`mod`), and pages that the process has written to.

/// Drops clean pages of code and constants; the kernel maps them again on access. Does nothing on failure.
pub(crate) fn trim_file_pages() {
    #[cfg(target_os = "linux")]
    if let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") {
        linux::trim_file_pages(&smaps);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::sys::mman::{MmapAdvise, madvise};
    use std::ffi::c_void;
    use std::ops::Range;
    use std::ptr::NonNull;

    pub(crate) fn trim_file_pages(smaps: &str) {
        for range in clean_mappings(smaps) {
            let Some(first) = NonNull::new(std::ptr::without_provenance_mut::<c_void>(range.start))
            else {
                continue;
            };
            // SAFETY: every page of the range belongs to a file and has not been written to, so the kernel maps the same page again on access.
            // The range is still the same mapping: this process loads and unloads no code after its start.
            let _ = unsafe { madvise(first, range.len(), MmapAdvise::MADV_DONTNEED) };
        }
    }

    /// Returns the read-only file mappings in which the process has written to no page (`Anonymous: 0 kB`).
    fn clean_mappings(smaps: &str) -> Vec<Range<usize>> {
        let (mut clean, mut mapping) = (Vec::new(), None);
        for line in smaps.lines() {
            match line.split_ascii_whitespace().next() {
                Some("Anonymous:") if line.ends_with(" 0 kB") => clean.extend(mapping.take()),
                Some(word) if !word.ends_with(':') => mapping = read_only_file(line),
                _ => {}
            }
        }
        clean
    }

    /// Parses the first line of a mapping: `START-END r-xp OFFSET DEVICE INODE PATH`. The inode of anonymous memory is 0.
    fn read_only_file(line: &str) -> Option<Range<usize>> {
        let mut columns = line.split_ascii_whitespace();
        let (start, end) = columns.next()?.split_once('-')?;
        let address = |hex| usize::from_str_radix(hex, 16).ok();
        let is_read_only = ["r-xp", "r--p"].contains(&columns.next()?) && columns.nth(2)? != "0";
        is_read_only.then_some(address(start)?..address(end)?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_unmodified_pages_of_files_are_dropped() {
            let smaps = "\
55d0a0000000-55d0a0010000 r--p 00000000 fe:00 77                         /bin/loci
Anonymous:             0 kB
55d0a0040000-55d0a0050000 r--p 00040000 fe:00 77                         /bin/loci
Anonymous:            64 kB
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
            let constants = 0x55d0_a000_0000..0x55d0_a001_0000;
            let code = 0x55d0_a001_0000..0x55d0_a003_0000;
            assert_eq!(clean_mappings(smaps), [constants, code]);
            assert!(clean_mappings("nonsense\n\n- r-xp\nAnonymous: 0 kB").is_empty());
        }

        #[test]
        fn a_process_continues_after_dropping_its_file_pages() {
            let read_smaps =
                || std::fs::read_to_string("/proc/self/smaps").expect("smaps is readable");
            let before = read_smaps();
            assert!(!clean_mappings(&before).is_empty());
            trim_file_pages(&before);
            assert_eq!(clean_mappings(&read_smaps()).len(), clean_mappings(&before).len());
        }
    }
}

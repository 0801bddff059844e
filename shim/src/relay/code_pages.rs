//! Trims code pages from memory that only the start of a session needs.
//!
//! A session lasts for hours and relays lines, which needs a fifth of the code of finding the project, starting the daemon and the handshake.
//! Code pages are file-backed and clean: the kernel keeps them in the page cache and maps them again when they are executed. Linux only.
//! Not here: memory that holds data.

/// Drops clean code pages from this process's memory; needed pages are mapped again on access. Does nothing on failure.
pub(crate) fn trim_code_pages() {
    #[cfg(target_os = "linux")]
    if let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") {
        linux::trim_code_pages(&smaps);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::sys::mman::{MmapAdvise, madvise};
    use std::ffi::c_void;
    use std::ops::Range;
    use std::ptr::NonNull;

    pub(crate) fn trim_code_pages(smaps: &str) {
        for code in clean_code(smaps) {
            let Some(first) = NonNull::new(std::ptr::without_provenance_mut::<c_void>(code.start))
            else {
                continue;
            };
            // SAFETY: every page of the range belongs to a file and has not been written to; the kernel maps the same page again when it is
            // read or executed. If the range has been unmapped or replaced since, the kernel only drops pages that equal those of a file.
            let _ = unsafe { madvise(first, code.len(), MmapAdvise::MADV_DONTNEED) };
        }
    }

    /// Returns the executable mappings of files of which the process has written to no page (`Anonymous: 0 kB`).
    fn clean_code(smaps: &str) -> Vec<Range<usize>> {
        let (mut clean, mut mapping) = (Vec::new(), None);
        for line in smaps.lines() {
            match line.split_ascii_whitespace().next() {
                Some("Anonymous:") if line.ends_with(" 0 kB") => clean.extend(mapping.take()),
                Some(word) if !word.ends_with(':') => mapping = executable_file(line),
                _ => {}
            }
        }
        clean
    }

    /// Parses the first line of a mapping: `START-END r-xp OFFSET DEVICE INODE PATH`. The inode is 0 for memory of no file.
    fn executable_file(line: &str) -> Option<Range<usize>> {
        let mut columns = line.split_ascii_whitespace();
        let (start, end) = columns.next()?.split_once('-')?;
        let address = |hex| usize::from_str_radix(hex, 16).ok();
        let is_code = columns.next()? == "r-xp" && columns.nth(2)? != "0";
        is_code.then_some(address(start)?..address(end)?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_unmodified_code_of_files_is_dropped() {
            let smaps = "\
55d0a0000000-55d0a0010000 r--p 00000000 fe:00 77                         /bin/loci
Anonymous:             0 kB
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
            let code = 0x55d0_a001_0000..0x55d0_a003_0000;
            assert_eq!(clean_code(smaps), [code]);
            assert_eq!(clean_code("nonsense\n\n- r-xp\nAnonymous: 0 kB"), []);
        }

        #[test]
        fn a_process_continues_without_the_code_that_it_dropped() {
            let read = || std::fs::read_to_string("/proc/self/smaps").expect("is readable");
            let before = read();
            assert!(!clean_code(&before).is_empty());
            trim_code_pages(&before);
            assert_eq!(clean_code(&read()).len(), clean_code(&before).len());
        }
    }
}

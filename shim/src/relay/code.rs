//! Code that only the beginning of a session needs, given back once the session has begun.
//!
//! A session lasts for hours and passes lines, which takes a fifth of the code that finding the project, starting the daemon and greeting
//! it take. Pages of code are the file's own: the kernel has them, and one that is needed again is there again with the next step. Linux
//! only. Not here: memory that holds data.

/// Takes code out of this process's memory; what runs comes back by itself. Where that cannot be done, nothing is lost but some memory.
pub(super) fn give_back() {
    #[cfg(target_os = "linux")]
    if let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") {
        linux::give_back(&smaps);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::sys::mman::{MmapAdvise, madvise};
    use std::ffi::c_void;
    use std::ptr::NonNull;

    pub(super) fn give_back(smaps: &str) {
        for (start, end) in unchanged_code(smaps) {
            let Some(first) = NonNull::new(std::ptr::without_provenance_mut::<c_void>(start)) else { continue };
            // SAFETY: every page of the range is one of a file that nobody has written to; the kernel maps the same page again when it is
            // read or run. Of a range that is gone or another by now the kernel takes pages that are as the file has them all the same.
            let _ = unsafe { madvise(first, end - start, MmapAdvise::MADV_DONTNEED) };
        }
    }

    /// Where code of files stands that is as the file has it: no debugger has put a breakpoint into it.
    fn unchanged_code(smaps: &str) -> Vec<(usize, usize)> {
        let (mut found, mut last) = (Vec::new(), None);
        for line in smaps.lines() {
            let mut words = line.split_ascii_whitespace();
            let Some(first) = words.next() else { continue };
            if first == "Anonymous:" && words.next() == Some("0") {
                found.extend(last.take());
            } else if !first.ends_with(':') {
                last = code_of_a_file(first, words);
            }
        }
        found
    }

    fn code_of_a_file<'a>(range: &str, mut words: impl Iterator<Item = &'a str>) -> Option<(usize, usize)> {
        let address = |hex| usize::from_str_radix(hex, 16).ok();
        let (start, end) = range.split_once('-')?;
        let is_code = words.next() == Some("r-xp");
        let is_of_a_file = words.nth(2).is_some_and(|inode| inode != "0");
        (is_code && is_of_a_file).then_some((address(start)?, address(end)?))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const SMAPS: &str = "\
55d0a0000000-55d0a0010000 r--p 00000000 fe:00 77                         /bin/loci
Anonymous:             0 kB
55d0a0010000-55d0a0030000 r-xp 00010000 fe:00 77                         /bin/loci
Size:                128 kB
Anonymous:             0 kB
7f0000000000-7f0000002000 r-xp 00000000 fe:00 78                         /lib/with a breakpoint.so
Anonymous:             4 kB
7f0000004000-7f0000006000 r-xp 00000000 00:00 0
Anonymous:             0 kB
7f0000008000-7f000000a000 rw-p 00000000 fe:00 78                         /lib/data.so
Anonymous:             0 kB
";

        #[test]
        fn only_code_as_the_file_has_it_is_given_back() {
            assert_eq!(unchanged_code(SMAPS), [(0x55d0_a001_0000, 0x55d0_a003_0000)]);
            assert_eq!(unchanged_code("nonsense\n\n- r-xp"), []);
        }

        #[test]
        fn a_process_goes_on_without_the_code_that_it_has_given_back() {
            let smaps = std::fs::read_to_string("/proc/self/smaps").expect("is readable");
            assert!(!unchanged_code(&smaps).is_empty());
            give_back(&smaps);
            assert_eq!(unchanged_code(&smaps), unchanged_code(&std::fs::read_to_string("/proc/self/smaps").expect("is readable")));
        }
    }
}

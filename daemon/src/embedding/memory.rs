//! What the process keeps of the model's memory: no more than it works with, and that where the processor finds it.
//!
//! A run takes up to 30 MB for a moment. glibc learns from that to keep such blocks, so the process would stay 35 MB larger for good. Of
//! the weights it reads a row for each word part, and the kernel maps the pages around each, until the whole table of 46 MB counts as
//! the process's own.

use std::path::Path;

/// Has the allocator give large blocks back at once. Costs about 5 % of a run of 128 tokens or more, nothing measurable below.
pub(super) fn give_back_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        const M_TRIM_THRESHOLD: c_int = -1;
        const M_MMAP_THRESHOLD: c_int = -3;
        // SAFETY: mallopt takes plain numbers and may be called at any time; naming a threshold ends glibc's own learning.
        unsafe {
            mallopt(M_MMAP_THRESHOLD, 1 << 20);
            mallopt(M_TRIM_THRESHOLD, 4 << 20);
        }
    }
}

/// Puts what the process has filled so far into large pages, as far as whole ones fit in: a run reads 42 MB of weights, and the processor
/// keeps only some thousands of places in mind, which are of 4 KB otherwise. Takes no more memory. Where there are no large pages nothing
/// is lost but some time; Linux has this from 6.1 on. Where the person wants none at all there are none.
pub(super) fn in_large_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::libc::{MADV_COLLAPSE, madvise};
        use std::fs::read_to_string;
        let wanted = read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
            .is_ok_and(|choice| !choice.contains("[never]"));
        let Some(smaps) = wanted.then(|| read_to_string("/proc/self/smaps").ok()).flatten() else {
            return;
        };
        for filled in loci_proto::smaps::filled(&smaps) {
            // SAFETY: whatever is there when it is done can be read and written as before; where nothing is any more it is an error.
            let _ = unsafe {
                madvise(std::ptr::without_provenance_mut(filled.start), filled.len(), MADV_COLLAPSE)
            };
        }
    }
}

/// Takes a file's pages out of this process's memory; what is read comes back by itself, from the kernel's copy. A page that was
/// written to stays. Where that cannot be done, nothing is lost but some memory.
pub(super) fn give_back(file: &Path) {
    #[cfg(target_os = "linux")]
    if let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") {
        use nix::sys::mman::{MmapAdvise, madvise};
        use std::ptr::{NonNull, without_provenance_mut};
        for mapped in loci_proto::smaps::unchanged(&smaps)
            .into_iter()
            .filter(|mapped| Path::new(mapped.file) == file)
        {
            let Some(first) = NonNull::new(without_provenance_mut(mapped.range.start)) else {
                continue;
            };
            // SAFETY: the range is of a file, and nobody has written to it: its pages are the file's, which the kernel maps again when
            // they are read. It is the session's alone, which this thread owns and which does not run meanwhile, so it is still there.
            let _ = unsafe { madvise(first, mapped.range.len(), MmapAdvise::MADV_DONTNEED) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::in_large_pages;

    const LARGE: usize = 32 << 20;

    /// How much of the memory in which this address is stands in large pages, in KiB.
    fn large_at(address: usize) -> u64 {
        let smaps = std::fs::read_to_string("/proc/self/smaps").expect("is told");
        let mut inside = false;
        for line in smaps.lines() {
            let mut words = line.split_whitespace();
            let (first, second) =
                (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if let Some((start, end)) = first.split_once('-') {
                let number = |hex| usize::from_str_radix(hex, 16).unwrap_or(0);
                inside = (number(start)..number(end)).contains(&address);
            } else if inside && first == "AnonHugePages:" {
                return second.parse().expect("is a number");
            }
        }
        0
    }

    #[test]
    fn what_is_filled_goes_into_large_pages_as_it_is() {
        let filled: Vec<usize> = (0..LARGE / size_of::<usize>()).collect();
        let large = || large_at(filled.as_ptr().addr() + LARGE / 2);
        let before = large();
        in_large_pages();
        assert!(filled.iter().enumerate().all(|(at, number)| at == *number));
        let choice = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
            .unwrap_or_default();
        if choice.contains("[madvise]") && before == 0 && can_collapse() {
            assert!(large() > 0);
        } else {
            crate::skipped::skip("this kernel gives no large pages, or gives them unasked");
        }
    }

    /// Whether the kernel is of 6.1 or later and has pages of the usual size.
    fn can_collapse() -> bool {
        let mut page: Vec<u8> = vec![1; 4 << 20];
        let start = page.as_mut_ptr().addr().next_multiple_of(2 << 20);
        // SAFETY: the range lies in the vector, and what is there stays as it is.
        unsafe {
            nix::libc::madvise(
                std::ptr::without_provenance_mut(start),
                2 << 20,
                nix::libc::MADV_COLLAPSE,
            ) == 0
        }
    }
}

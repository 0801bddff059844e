//! Limits the resident memory of the model: returns freed blocks to the system, unmaps weights while idle, and uses huge pages while busy.
//!
//! A forward pass briefly allocates up to 30 MB. By default glibc raises its thresholds after the first such block and keeps the memory,
//! so the process would stay 35 MB larger. A forward pass reads one row of the embedding table per token, and the kernel also maps the
//! surrounding pages, so the whole table of 46 MB becomes resident over time. Not here: when memory is trimmed (`worker`).

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Makes the allocator return large blocks to the system at once. Costs about 5 % of a forward pass of 128 tokens or more, and nothing
/// measurable below.
pub(crate) fn return_large_blocks_at_once() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use std::ffi::c_int;
        unsafe extern "C" {
            fn mallopt(parameter: c_int, value: c_int) -> c_int;
        }
        const M_TRIM_THRESHOLD: c_int = -1;
        const M_MMAP_THRESHOLD: c_int = -3;
        // SAFETY: mallopt takes plain numbers and may be called at any time. Setting a threshold switches glibc's dynamic adjustment off.
        unsafe {
            mallopt(M_MMAP_THRESHOLD, 1 << 20);
            mallopt(M_TRIM_THRESHOLD, 4 << 20);
        }
    }
}

/// Moves the process's writable anonymous memory to huge pages where whole ones fit.
///
/// A forward pass reads 42 MB of weights, and with pages of 4 KB the processor's TLB covers only a few thousand of them. Uses no
/// additional memory. On failure only speed is lost. Needs `MADV_COLLAPSE` of Linux 6.1 or later, and does nothing if huge pages
/// are set to `never`.
pub(crate) fn collapse_into_huge_pages() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        use nix::libc::{MADV_COLLAPSE, madvise};
        use std::fs::read_to_string;
        let allowed = read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
            .is_ok_and(|setting| !setting.contains("[never]"));
        let Some(smaps) = allowed.then(|| read_to_string("/proc/self/smaps").ok()).flatten() else {
            return;
        };
        for range in super::smaps::fully_resident(&smaps) {
            // SAFETY: MADV_COLLAPSE does not change the contents or the access rights of memory. An address range that is no longer
            // mapped is an error.
            let _ = unsafe {
                madvise(std::ptr::without_provenance_mut(range.start), range.len(), MADV_COLLAPSE)
            };
        }
    }
}

/// Held while a session maps or unmaps a file, and while pages of a file are removed. Two models may map the same weights: without the lock, a
/// mapping that was listed could be gone, and its addresses be those of other memory, before its pages are removed.
static MAPPINGS: Mutex<()> = Mutex::new(());

/// Waits until no other thread maps, unmaps or releases a model's file.
pub(crate) fn lock_mappings() -> MutexGuard<'static, ()> {
    MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a mapped file's unmodified pages from the resident memory. A later read maps them again from the kernel's page cache. Pages that
/// were written to stay. On failure the pages stay resident.
pub(crate) fn release_file_pages(file: &Path) {
    let _mappings = lock_mappings();
    #[cfg(target_os = "linux")]
    if let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") {
        use nix::sys::mman::{MmapAdvise, madvise};
        use std::ptr::{NonNull, without_provenance_mut};
        for mapping in super::smaps::unmodified(&smaps)
            .into_iter()
            .filter(|mapping| Path::new(mapping.file) == file)
        {
            let Some(start) = NonNull::new(without_provenance_mut(mapping.range.start)) else {
                continue;
            };
            // SAFETY: the range maps a file and was never written to, so its pages equal the file's, and the kernel maps them again when
            // they are read. No session maps or unmaps a file while the lock is held, so the mapping still exists.
            let _ = unsafe { madvise(start, mapping.range.len(), MmapAdvise::MADV_DONTNEED) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::collapse_into_huge_pages;

    const BYTES: usize = 32 << 20;

    /// Huge pages of the mapping that contains an address, in KiB.
    fn huge_pages_kib(address: usize) -> u64 {
        let smaps = std::fs::read_to_string("/proc/self/smaps").expect("smaps is readable");
        let mut inside = false;
        for line in smaps.lines() {
            let mut words = line.split_whitespace();
            let (first, second) =
                (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            if let Some((start, end)) = first.split_once('-') {
                let number = |hex| usize::from_str_radix(hex, 16).unwrap_or(0);
                inside = (number(start)..number(end)).contains(&address);
            } else if inside && first == "AnonHugePages:" {
                return second.parse().expect("AnonHugePages is a number");
            }
        }
        0
    }

    #[test]
    fn filled_memory_moves_to_huge_pages_unchanged() {
        let filled: Vec<usize> = (0..BYTES / size_of::<usize>()).collect();
        let huge = || huge_pages_kib(filled.as_ptr().addr() + BYTES / 2);
        let before = huge();
        collapse_into_huge_pages();
        assert!(filled.iter().enumerate().all(|(index, number)| index == *number));
        let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled")
            .unwrap_or_default();
        if setting.contains("[madvise]") && before == 0 && can_collapse() {
            assert!(huge() > 0);
        } else {
            loci_testkit::skipped::skip("this kernel has no huge pages, or uses them by default");
        }
    }

    /// Returns true if the kernel is 6.1 or later and has 2 MiB pages.
    fn can_collapse() -> bool {
        let mut page: Vec<u8> = vec![1; 4 << 20];
        let start = page.as_mut_ptr().addr().next_multiple_of(2 << 20);
        // SAFETY: the range is inside the vector, and its contents do not change.
        unsafe {
            nix::libc::madvise(
                std::ptr::without_provenance_mut(start),
                2 << 20,
                nix::libc::MADV_COLLAPSE,
            ) == 0
        }
    }
}

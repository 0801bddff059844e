//! Buffers backed by huge pages, where the system has them.
//!
//! Random accesses to a large store miss the TLB, which has a few thousand entries: with pages of
//! 4 KB each access needs a second memory access for the page table. Not here: the contents of the
//! buffers (`vectors`, `token_codes`).

/// Size of a huge page in bytes, on most processors.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Returns an empty vector with this capacity. Untouched pages take no memory.
pub fn with_capacity<T>(count: usize) -> Vec<T> {
    let buffer = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    advise(&buffer);
    buffer
}

/// Requests huge pages for the part of a buffer that they can cover. A failure only costs speed.
#[cfg(target_os = "linux")]
fn advise<T>(buffer: &Vec<T>) {
    use nix::sys::mman::{MmapAdvise, madvise};
    use std::ptr::NonNull;
    let first = buffer.as_ptr().cast::<u8>();
    let Some(range) = whole_pages(first.addr(), buffer.capacity() * size_of::<T>()) else { return };
    let Some(address) = NonNull::new(first.with_addr(range.start).cast_mut().cast()) else {
        return;
    };
    // SAFETY: the range is inside the vector's allocation, and MADV_HUGEPAGE does not change its
    // contents.
    let _ = unsafe { madvise(address, range.len(), MmapAdvise::MADV_HUGEPAGE) };
}

/// Returns the address range of the huge pages that are entirely inside the `length` bytes from
/// `address`.
#[cfg(target_os = "linux")]
fn whole_pages(address: usize, length: usize) -> Option<std::ops::Range<usize>> {
    let (first, end) = (address.next_multiple_of(PAGE), (address + length) / PAGE * PAGE);
    (first < end).then_some(first..end)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Returns the kernel's flags of the mapping that contains this address.
    fn flags_at(address: usize) -> String {
        let smaps = std::fs::read_to_string("/proc/self/smaps").expect("smaps is readable");
        let mut inside = false;
        for line in smaps.lines() {
            let bounds = line.split_whitespace().next().and_then(|range| range.split_once('-'));
            let number = |text| usize::from_str_radix(text, 16).ok();
            if let Some((first, end)) =
                bounds.and_then(|(first, end)| number(first).zip(number(end)))
            {
                inside = (first..end).contains(&address);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                return format!("{flags} ");
            }
        }
        String::new()
    }

    #[test]
    fn huge_pages_are_requested_only_for_pages_inside_the_buffer() {
        assert_eq!(whole_pages(PAGE, 3 * PAGE), Some(PAGE..4 * PAGE));
        assert_eq!(whole_pages(PAGE + 16, 3 * PAGE), Some(2 * PAGE..4 * PAGE));
        assert_eq!(whole_pages(PAGE - 16, PAGE + 16), Some(PAGE..2 * PAGE));
        assert_eq!(whole_pages(PAGE - 16, PAGE + 15), None);
        assert_eq!(whole_pages(PAGE, PAGE - 1), None);
        assert_eq!(whole_pages(16, 0), None);
    }

    #[test]
    fn huge_pages_are_requested_for_a_large_buffer() {
        let large = with_capacity::<u8>(8 * PAGE);
        assert!(large.capacity() >= 8 * PAGE && large.is_empty());
        let flags = flags_at(large.as_ptr().addr() + 4 * PAGE);
        if std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            assert!(flags.contains(" hg "), "{flags}");
        } else {
            loci_testkit::skipped::skip("this kernel has no transparent huge pages");
        }
    }
}

//! Removes resident code pages that only the start of a session needs (`madvise(MADV_DONTNEED)`).
//!
//! A session lasts for hours and only forwards lines, which uses a fifth of the code that finding the project, starting the daemon and
//! the hello use. Code pages are backed by the binary: the kernel maps a page again when it is executed. Linux only. Not here: pages
//! that hold data.

/// Drops all resident code pages of this process; executed pages come back by page faults. A failure only costs memory.
pub(crate) fn trim_code_pages() {
    #[cfg(target_os = "linux")]
    if let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") {
        linux::trim(&smaps);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use loci_proto::smaps;
    use nix::sys::mman::{MmapAdvise, madvise};
    use std::ffi::c_void;
    use std::ptr::NonNull;

    pub(crate) fn trim(smaps: &str) {
        for mapping in
            smaps::unchanged(smaps).into_iter().filter(|mapped| mapped.permissions == "r-xp")
        {
            let Some(start) =
                NonNull::new(std::ptr::without_provenance_mut::<c_void>(mapping.range.start))
            else {
                continue;
            };
            // SAFETY: every page of the range is a clean, file-backed page; the kernel maps the same page again when it is read or
            // executed. If the mapping has changed since smaps was read, the advice drops pages that equal their file all the same.
            let _ = unsafe { madvise(start, mapping.range.len(), MmapAdvise::MADV_DONTNEED) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_process_keeps_running_after_its_code_pages_are_trimmed() {
            let read = || std::fs::read_to_string("/proc/self/smaps").expect("is readable");
            let code = |smaps: &str| {
                smaps::unchanged(smaps).iter().filter(|mapped| mapped.permissions == "r-xp").count()
            };
            let before = read();
            assert!(code(&before) > 0);
            trim(&before);
            assert_eq!(code(&read()), code(&before));
        }
    }
}

//! Code that only the beginning of a session needs, given back once the session has begun.
//!
//! A session lasts for hours and passes lines, which takes a fifth of the code that finding the project, starting the daemon and greeting
//! it take. Pages of code are the file's own: the kernel has them, and one that is needed again is there again with the next step. Linux
//! only. Not here: memory that holds data.

/// Takes code out of this process's memory; what runs comes back by itself. Where that cannot be done, nothing is lost but some memory.
pub(crate) fn give_back() {
    #[cfg(target_os = "linux")]
    if let Ok(smaps) = std::fs::read_to_string("/proc/self/smaps") {
        linux::give_back(&smaps);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use loci_proto::smaps;
    use nix::sys::mman::{MmapAdvise, madvise};
    use std::ffi::c_void;
    use std::ptr::NonNull;

    pub(crate) fn give_back(smaps: &str) {
        for code in
            smaps::unchanged(smaps).into_iter().filter(|mapped| mapped.permissions == "r-xp")
        {
            let Some(first) =
                NonNull::new(std::ptr::without_provenance_mut::<c_void>(code.range.start))
            else {
                continue;
            };
            // SAFETY: every page of the range is one of a file that nobody has written to; the kernel maps the same page again when it is
            // read or run. Of a range that is gone or another by now the kernel takes pages that are as the file has them all the same.
            let _ = unsafe { madvise(first, code.range.len(), MmapAdvise::MADV_DONTNEED) };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_process_goes_on_without_the_code_that_it_has_given_back() {
            let read = || std::fs::read_to_string("/proc/self/smaps").expect("is readable");
            let code = |smaps: &str| {
                smaps::unchanged(smaps).iter().filter(|mapped| mapped.permissions == "r-xp").count()
            };
            let before = read();
            assert!(code(&before) > 0);
            give_back(&before);
            assert_eq!(code(&read()), code(&before));
        }
    }
}

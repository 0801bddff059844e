//! Room in large pages, where the system has them.
//!
//! What is looked at here and there in a large store is found by its page first, and the processor keeps only some thousands of those in mind:
//! with pages of 4 KB that is a second look into memory for each. Not here: what stands in the room (`vectors`, `codes`).

/// A large page, as most processors have it.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// Room for so many; what nobody has written to takes no memory yet.
pub(super) fn room<T>(count: usize) -> Vec<T> {
    let room = Vec::with_capacity(count);
    #[cfg(target_os = "linux")]
    advise(&room);
    room
}

/// Asks for large pages, as far as whole ones fit in. Where there are none nothing is lost but some time.
#[cfg(target_os = "linux")]
fn advise<T>(room: &Vec<T>) {
    use nix::sys::mman::{MmapAdvise, madvise};
    use std::ptr::NonNull;
    let first = room.as_ptr().cast::<u8>();
    let before = first.align_offset(PAGE);
    let length = (room.capacity() * size_of::<T>()).saturating_sub(before) / PAGE * PAGE;
    let Some(first) = NonNull::new(first.wrapping_add(before).cast_mut().cast()).filter(|_| length > 0) else { return };
    // SAFETY: the range lies in the vector's own room, and what can be read there stays as it is.
    let _ = unsafe { madvise(first, length, MmapAdvise::MADV_HUGEPAGE) };
}

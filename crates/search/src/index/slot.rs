//! Slot, row and term numbers.

/// Converts a slot, row or term number to the 32 bits in which it is stored. Four billion memories
/// do not fit into the memory of a machine.
pub fn slot_id(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

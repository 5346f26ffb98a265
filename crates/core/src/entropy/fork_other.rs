//! Fork detection elsewhere: the process id. A grandchild that got its grandparent's number before its parent made an id would
//! not be told apart; systems without `fork` have no such case.

pub(crate) fn generation() -> u64 {
    u64::from(std::process::id())
}

/// Whether memory of this generation may be another process's.
pub(super) fn is_cloned(generation_of_memory: u64) -> bool {
    generation_of_memory != generation()
}

/// Whether [`is_cloned`] must be asked for each id: nothing else tells of a child.
pub(super) const fn must_be_looked_at() -> bool {
    true
}

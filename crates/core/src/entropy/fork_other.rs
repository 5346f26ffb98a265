//! Fork detection elsewhere: the process id. A grandchild that got its grandparent's number before its parent made an id would
//! not be told apart; systems without `fork` have no such case.

pub(crate) fn generation() -> u64 {
    u64::from(std::process::id())
}

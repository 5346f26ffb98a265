//! What belongs to the process that made it: in a forked child it can't be used, and dropping it does nothing. Rule 8.

use mintage::entropy::generation;
use std::mem;

/// A value that is used and dropped only in the process that made it.
///
/// A child has a copy of everything that its parent had, locks that other threads held included; handles of runtimes and channels
/// would wait for them for ever.
#[derive(Debug)]
pub(crate) struct Own<T> {
    /// Always there until it is dropped.
    value: Option<T>,
    generation: u64,
}

impl<T> Own<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), generation: generation() }
    }

    /// The value itself; `None` in a forked child.
    #[cfg(feature = "http")]
    pub(crate) fn into_inner(mut self) -> Option<T> {
        if self.generation == generation() { self.value.take() } else { None }
    }

    /// The value; `None` in a forked child.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.as_ref().filter(|_| self.generation == generation())
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        if self.generation != generation() {
            mem::forget(self.value.take());
        }
    }
}

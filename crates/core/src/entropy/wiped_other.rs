//! The same on systems whose kernel wipes nothing in a child: plain memory, so that only [`super::generation`] tells that it was
//! inherited.

use super::Zeroed;

/// A value of its own on the heap.
#[derive(Debug)]
pub(crate) struct Wiped<T> {
    at: Box<T>,
}

impl<T: Zeroed> Wiped<T> {
    /// A zeroed value.
    #[expect(clippy::unnecessary_wraps, reason = "Linux may have none")]
    pub(crate) fn new() -> Option<Self> {
        Some(Self { at: Box::new(T::ZERO) })
    }

    /// The value.
    pub(crate) const fn get(&mut self) -> &mut T {
        &mut self.at
    }
}

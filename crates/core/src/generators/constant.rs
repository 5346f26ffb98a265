//! A generator of one id: nil, max, and what is computed from a name.

use super::Generator;
use crate::error::Error;
use crate::raw::RawId;
use alloc::boxed::Box;

struct Constant(RawId);

impl Generator for Constant {
    fn try_fill(&self, out: &mut [RawId]) -> Result<usize, Error> {
        out.fill(self.0);
        Ok(out.len())
    }
}

/// A generator that gives `id` each time.
pub(crate) fn constant(id: RawId) -> Box<dyn Generator> {
    Box::new(Constant(id))
}

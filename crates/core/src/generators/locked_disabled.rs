//! Without `std` there is no lock: a [`Rule`] is driven by its owner.

use super::rule::Rule;
use super::{Generator, Settings};
use crate::error::Error;
use alloc::boxed::Box;

/// No generator that threads could share.
pub(crate) fn boxed<R: Rule>(_: R, _: &Settings) -> Result<Box<dyn Generator>, Error> {
    let scheme = <R::Scheme as crate::scheme::StaticScheme>::SCHEME.name;
    Err(Error::NotApplicable { scheme, setting: "shared generator without std; drive its Rule" })
}

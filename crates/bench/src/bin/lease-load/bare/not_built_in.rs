//! A kind of store that this program was built without.

use super::Bare;
use crate::Fault;

#[expect(clippy::unused_async, reason = "as where it is built in")]
pub(super) async fn key(_address: &str) -> Result<Box<dyn Bare>, Fault> {
    Err("this store isn't built in; see the features of mintage-bench".into())
}

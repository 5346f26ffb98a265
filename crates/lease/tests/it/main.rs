//! What leases and blocks promise, over the rules as they are.

mod model;

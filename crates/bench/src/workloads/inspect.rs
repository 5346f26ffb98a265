//! Reading texts whose scheme is unknown.

use super::BEGIN;
use crate::{Engine, Over};
use mintage::inspect::{Options, inspect};

/// Texts of each kind: published ids, a number that many layouts can read, and what nothing can.
const INPUTS: &[(&str, &str)] = &[
    ("a UUIDv7", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"),
    ("a UUIDv4", "919108f7-52d1-4320-9bac-f847db4148a8"),
    ("a ULID", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ("a KSUID", "0ujtsYcgvSTl8PAuAdqWYSMnLOv"),
    ("a prefixed KSUID", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"),
    ("an ObjectId", "507c7f79bcf86cd7994f6c0e"),
    ("a Snowflake", "1050118621198921728"),
    ("an integer", "16777216"),
    ("an unreadable text", "héllo"),
];

pub(super) fn engines() -> Vec<Box<dyn Engine>> {
    // A present of our own: the default reads the clock.
    let options = Options { now: BEGIN, scheme: None, layout: None };
    let engine = |(kind, text): &(&str, &'static str)| {
        Over::boxed(format!("inspect {kind}"), vec![*text], move |text: &&str| inspect(text, &options))
    };
    INPUTS.iter().map(engine).collect()
}

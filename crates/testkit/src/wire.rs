//! How a process reports to the one that started or forked it: a line of JSON, then its ids as big-endian bytes of their width.

use crate::count::Ids;
use anyhow::{Context, Result, ensure};
use mintage::{RawId, Scheme};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufWriter, Write};

/// Writes a report and the ids that belong to it.
///
/// # Errors
/// When the reader is gone.
pub fn write(out: &mut impl Write, report: &impl Serialize, scheme: &Scheme, ids: &Ids) -> Result<()> {
    let mut out = BufWriter::new(out);
    serde_json::to_writer(&mut out, report)?;
    out.write_all(b"\n")?;
    let skip = 20 - scheme.layout.bytes();
    for id in ids.iter() {
        out.write_all(&id.to_be_bytes()[skip..])?;
    }
    out.flush()?;
    Ok(())
}

/// Reads what [`write()`] wrote.
///
/// # Errors
/// When it is cut short, or not such a report.
pub fn read<T: DeserializeOwned>(bytes: &[u8], scheme: &Scheme) -> Result<(T, Ids)> {
    let end = bytes.iter().position(|b| *b == b'\n').context("the report has no line")?;
    let report = serde_json::from_slice(&bytes[..end]).context("the report is not what was expected")?;
    let (chunks, rest) = (bytes[end + 1..].chunks_exact(scheme.layout.bytes()), bytes.len() - end - 1);
    ensure!(rest.is_multiple_of(scheme.layout.bytes()), "{rest} bytes of ids are cut short");
    let mut ids = Ids::of(scheme);
    for chunk in chunks {
        ids.push(RawId::from_be_bytes(chunk).context("an id has at most 20 bytes")?);
    }
    Ok((report, ids))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_as_it_went() {
        for name in ["snowflake-twitter", "objectid", "uuid-v7", "ksuid"] {
            let scheme = Scheme::by_name(name).unwrap();
            let mut ids = Ids::of(scheme);
            ids.push(RawId::new(10));
            ids.push(RawId::max_of(scheme.layout.bits()));
            let mut bytes = Vec::new();
            write(&mut bytes, &vec![1, 2], scheme, &ids).unwrap();
            let (report, read_ids): (Vec<u8>, Ids) = read(&bytes, scheme).unwrap();
            assert_eq!(report, [1, 2]);
            assert!(read_ids.iter().eq(ids.iter()));
            assert!(read::<Vec<u8>>(&bytes[..bytes.len() - 1], scheme).is_err());
        }
    }
}

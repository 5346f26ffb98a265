//! The log of events: one JSON object a line, appended to a file.

use crate::exit::Failure;
use crate::output;
use anyhow::Context;
use mintage_lease::{Event, Happening, Listener};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Numbers of 64 bits are texts: a reader whose numbers are floats would round them.
#[derive(Serialize)]
struct Line<'a> {
    time: String,
    event: &'static str,
    space: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_tick: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until_tick: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    serial: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

/// Appends events to a file; without one it tells the user of what needs an eye.
pub(super) fn listener(path: Option<&Path>) -> Result<Listener, Failure> {
    let Some(path) = path else {
        return Ok(Listener::new(warn));
    };
    let file = OpenOptions::new().append(true).create(true).open(path);
    let file =
        file.with_context(|| format!("{}: can't be written", path.display())).map_err(Failure::Cannot)?;
    let file = Mutex::new(file);
    Ok(Listener::new(move |event| {
        warn(event);
        // Minting goes on though the disk is full.
        let _ = append(&mut file.lock().unwrap_or_else(PoisonError::into_inner), event);
    }))
}

/// One write a line, so that no line is cut.
fn append(file: &mut File, event: &Event) -> std::io::Result<()> {
    let is_block = event.worker.is_none();
    let text = |number: Option<u64>| number.map(|number| number.to_string());
    let line = Line {
        time: event.time.to_string(),
        event: event.event.name(),
        space: &event.space,
        worker: text(event.worker),
        from_tick: text(event.from.filter(|_| !is_block)),
        until_tick: text(event.until.filter(|_| !is_block)),
        start: text(event.from.filter(|_| is_block)),
        end: text(event.until.filter(|_| is_block)),
        serial: text(event.serial),
        detail: event.detail.as_deref(),
    };
    let mut text = serde_json::to_vec(&line).map_err(std::io::Error::from)?;
    text.push(b'\n');
    file.write_all(&text)
}

fn warn(event: &Event) {
    let needs_an_eye = matches!(
        event.event,
        Happening::Lost
            | Happening::AcquireFailed
            | Happening::ClockBack
            | Happening::ClockAhead
            | Happening::HoldBegan
            | Happening::TimeFieldEnds
    );
    if needs_an_eye {
        let worker = event.worker.map_or_else(String::new, |worker| format!(" worker {worker}"));
        let detail = event.detail.as_deref().map_or_else(String::new, |detail| format!(": {detail}"));
        let told = format!("{}: {}{worker}{detail}", event.space, event.event.name());
        eprintln!("mintage: warning: {}", output::harmless_line(&told));
    }
}

//! `mintage convert`: the same id in another spelling or byte order.

use crate::arguments;
use crate::convert;
use crate::exit::{Failure, Outcome, usage};
use clap::Args;
use mintage::inspect::{Options, inspect};
use mintage::text::{GENERAL_FORMS, TextForm, crockford_check, parse_crockford_checked};
use mintage::{Order, RawId, Scheme, UuidV1, UuidV6};
use serde_json::Value;
use std::ffi::OsString;

/// Spell ids in another form or byte order; exits with 1 when one can't be.
#[derive(Debug, Args)]
#[command(
    after_help = "Forms: canonical, hex, decimal, decimal-fixed, crockford32, crockford32-check, base36, base58, base58-flickr, \
                  base62,\nbase64url, z-base-32; hyphenated, simple, urn, braced (UUID text of any 128 bits); mysql-swapped, \
                  guid-bytes,\nsqlserver-order, java-order (hex of the stored bytes); uuid-v1, uuid-v6 (each from the \
                  other).\n\nExamples:\n  mintage convert 017f22e2-79b0-7cc3-98c4-dc0c0c07398f --to base58\n  mintage convert \
                  01ARZ3NDEKTSV4RRFFQ69G5FAV --to hyphenated\n  mintage convert 6ccd780c-baba-1026-9564-5b8c656024db --to \
                  mysql-swapped\n  mintage convert 1026baba6ccd780c95645b8c656024db --from mysql-swapped --to hyphenated"
)]
pub(crate) struct Convert {
    /// Ids, or `-` for one a line from standard input
    #[arg(value_name = "ID", required = true)]
    ids: Vec<OsString>,
    /// The scheme of the ids, or the form or byte order that they stand in [default: what each looks like]
    #[arg(long, value_name = "SCHEME|FORM")]
    from: Option<String>,
    /// The form to spell them in
    #[arg(long, value_name = "FORM")]
    to: String,
    /// One JSON object an id
    #[arg(long)]
    json: bool,
}

impl Convert {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let from = From::named(self.from.as_deref())?;
        let to = To::named(&self.to)?;
        convert::each(&self.ids, self.json, |text| {
            let (raw, scheme) = from.read(text)?;
            to.spell(raw, scheme).map(Value::String)
        })
    }
}

/// What the ids are read as.
enum From {
    Anything,
    Scheme(&'static Scheme),
    /// 128 bits in a byte order, as hex digits.
    Order(Order),
    /// A number in a form that says nothing of a scheme.
    Form(&'static str),
    /// A number in Crockford's base 32 with its check symbol.
    CheckedCrockford,
}

impl From {
    fn named(name: Option<&str>) -> Result<Self, Failure> {
        let Some(name) = name else { return Ok(Self::Anything) };
        if let Some(order) = Order::by_name(name) {
            return Ok(Self::Order(order));
        }
        if name == "crockford32-check" {
            return Ok(Self::CheckedCrockford);
        }
        let uuid = mintage::text::UUID_FORMS.iter().map(|form| form.name);
        if let Some(form) = GENERAL_FORMS.iter().copied().chain(uuid).find(|form| *form == name) {
            return Ok(Self::Form(form));
        }
        arguments::scheme(name).map(Self::Scheme).map_err(|failure| match failure {
            Failure::Usage(message) => usage(format!(
                "--from: {message}; a form ({}) or a byte order ({}) may stand there too",
                GENERAL_FORMS.join(", "),
                orders()
            )),
            other => other,
        })
    }

    /// The number, and the scheme that it is an id of as far as one knows.
    fn read(&self, text: &str) -> Result<(RawId, Option<&'static Scheme>), String> {
        let told = |error: mintage::Error| error.to_string();
        match self {
            Self::Scheme(scheme) => scheme
                .parse(text)
                .or_else(|strict| general(scheme, text).ok_or(strict))
                .map(|raw| (raw, Some(*scheme)))
                .map_err(told),
            Self::Order(order) => {
                let hex = mintage::rfc9562::parse_any(text).map_err(told)?;
                Ok((RawId::new(order.undo(hex)), None))
            }
            Self::Form(name) => number(name, text).map(|raw| (raw, None)).map_err(told),
            Self::CheckedCrockford => {
                parse_crockford_checked(text, RawId::MAX_BITS).map(|raw| (raw, None)).map_err(told)
            }
            Self::Anything => {
                let found = inspect(text, &Options::default());
                let is_number = text.bytes().all(|b| b.is_ascii_digit());
                let best = found.readings.iter().find_map(|reading| {
                    let scheme = Scheme::by_name(reading.scheme)?;
                    // A number is taken for nothing but a number: its digits are digits of larger bases too.
                    if is_number && reading.text != text {
                        return None;
                    }
                    let suffix = reading.text.rsplit('_').next().unwrap_or_default();
                    scheme
                        .parse(suffix)
                        .or_else(|_| scheme.parse(&reading.text))
                        .ok()
                        .map(|raw| (raw, scheme))
                });
                match best {
                    Some((raw, scheme)) => Ok((raw, Some(scheme))),
                    // A UUID of no known kind still has 128 bits, and a plain number its value.
                    None => mintage::rfc9562::parse_postgres(text)
                        .map(RawId::new)
                        .or_else(|_| mintage::text::DECIMAL.parse(text, 64, "id"))
                        .map(|raw| (raw, None))
                        .map_err(|error| match is_number {
                            true => format!("{error}; if it is no number, say by --from what it is"),
                            false => found.warnings.join("; "),
                        }),
                }
            }
        }
    }
}

/// The text as an id of this scheme in one of the general forms that fits its length.
fn general(scheme: &Scheme, text: &str) -> Option<RawId> {
    let forms = GENERAL_FORMS.iter().filter_map(|name| scheme.form(name));
    let mut fitting = forms.filter(|form| form.is_fixed && form.has_length(text.len()));
    let raws = fitting.find_map(|form| form.parse(text, scheme.layout.bits(), scheme.name).ok());
    raws.and_then(|raw| scheme.check(raw).ok())
}

/// A number of any width up to 160 bits in the form of this name.
fn number(name: &str, text: &str) -> Result<RawId, mintage::Error> {
    if let Some(form) = mintage::text::UUID_FORMS.iter().find(|form| form.name == name) {
        return form.parse(text, 128, "id");
    }
    // The widest form of this name that has as many digits as the text; base64url leaves other bits over at each width.
    let mut widths = (8..=RawId::MAX_BITS)
        .rev()
        .filter_map(|bits| mintage::text::general_form(name, bits).zip(Some(bits)));
    let fitting = widths.find(|(form, _)| form.len == text.len() || !form.is_fixed);
    match fitting {
        Some((form, _)) => form
            .parse(text, RawId::MAX_BITS, "id")
            .or_else(|strict| form.parse_lenient(text, RawId::MAX_BITS, "id").map_err(|_| strict)),
        None => {
            let shortest = mintage::text::general_form(name, RawId::MAX_BITS);
            let form = shortest.filter(|form| text.len() < form.len);
            match form {
                // Shorter than a byte: a number all the same.
                Some(form) => {
                    TextForm { len: text.len(), pad_bits: 0, ..form }.parse(text, RawId::MAX_BITS, "id")
                }
                None => mintage::text::general_form(name, RawId::MAX_BITS)
                    .map_or(Err(mintage::Error::Time), |form| form.parse(text, RawId::MAX_BITS, "id")),
            }
        }
    }
}

/// The form of this name for any id of `bits` bits.
fn form_of(name: &str, bits: u32) -> Option<TextForm> {
    let uuid = mintage::text::UUID_FORMS.iter().find(|form| form.name == name);
    uuid.filter(|_| bits == 128).map(|form| **form).or_else(|| mintage::text::general_form(name, bits))
}

/// What the ids are spelled as.
enum To {
    Form(String),
    CheckedCrockford,
    Order(Order),
    UuidV1,
    UuidV6,
}

impl To {
    fn named(name: &str) -> Result<Self, Failure> {
        match name {
            "crockford32-check" => return Ok(Self::CheckedCrockford),
            "uuid-v1" => return Ok(Self::UuidV1),
            "uuid-v6" => return Ok(Self::UuidV6),
            _ => {}
        }
        if let Some(order) = Order::by_name(name) {
            return Ok(Self::Order(order));
        }
        let own = mintage::SCHEMES.iter().flat_map(|scheme| scheme.text).map(|form| form.name);
        let known: Vec<&str> = own.chain(GENERAL_FORMS.iter().copied()).chain(["canonical"]).collect();
        if known.contains(&name) {
            return Ok(Self::Form(name.to_owned()));
        }
        let more = [
            "crockford32-check",
            "mysql-swapped",
            "guid-bytes",
            "sqlserver-order",
            "java-order",
            "uuid-v1",
            "uuid-v6",
        ];
        let nearest = arguments::nearest(name, known.iter().copied().chain(more).map(|name| (name, name)));
        Err(usage(format!(
            "--to: no form is called `{name}`; {nearest}it may be canonical, {}, crockford32-check, hyphenated, simple, urn, \
             braced, {}, uuid-v1, uuid-v6, or a form of the scheme",
            GENERAL_FORMS.join(", "),
            orders()
        )))
    }

    fn spell(&self, raw: RawId, scheme: Option<&'static Scheme>) -> Result<String, String> {
        // Of no known scheme: as wide as the usual ids that can hold it.
        let bits = scheme.map_or_else(
            || [64, 128, 160].into_iter().find(|bits| raw.fits(*bits)).unwrap_or(160),
            |s| s.layout.bits(),
        );
        let is_uuid =
            matches!(self, Self::Order(_)) || matches!(self, Self::Form(name) if is_uuid_form(name));
        let bits = if is_uuid && scheme.is_none() { 128 } else { bits };
        let told = |error: mintage::Error| error.to_string();
        match self {
            Self::Form(name) => {
                let own = scheme.and_then(|scheme| scheme.form(name)).or_else(|| form_of(name, bits));
                let form = own.or_else(|| (name == "canonical").then_some(mintage::text::HYPHENATED));
                let form = form.ok_or_else(|| {
                    let name_of = scheme.map_or("an id of no known scheme", |scheme| scheme.name);
                    format!("{name_of}: has no form {name}, which is for other schemes or 128 bits")
                })?;
                form.print(raw).map(|text| text.to_string()).map_err(told)
            }
            Self::CheckedCrockford => {
                let form = mintage::text::general_form("crockford32", bits).ok_or("no such form")?;
                let text = form.print(raw).map_err(told)?;
                Ok(format!("{text}{}", crockford_check(raw)))
            }
            Self::Order(order) => match bits {
                128 => {
                    let stored = RawId::new(order.apply(raw.low()));
                    mintage::text::SIMPLE.print(stored).map(|text| text.to_string()).map_err(told)
                }
                _ => Err(format!("{} is for 128 bits; this id has {bits}", order.name())),
            },
            Self::UuidV1 => {
                let v6 = UuidV6::from_raw(raw).map_err(told);
                v6.map(|id| UuidV1::from(id).to_string()).or_else(|error| match UuidV1::from_raw(raw) {
                    Ok(id) => Ok(id.to_string()),
                    Err(_) => Err(error),
                })
            }
            Self::UuidV6 => {
                let v1 = UuidV1::from_raw(raw).map_err(told);
                v1.map(|id| UuidV6::from(id).to_string()).or_else(|error| match UuidV6::from_raw(raw) {
                    Ok(id) => Ok(id.to_string()),
                    Err(_) => Err(error),
                })
            }
        }
    }
}

fn is_uuid_form(name: &str) -> bool {
    mintage::text::UUID_FORMS.iter().any(|form| form.name == name)
}

fn orders() -> String {
    Order::ALL.iter().map(|order| order.name()).collect::<Vec<_>>().join(", ")
}

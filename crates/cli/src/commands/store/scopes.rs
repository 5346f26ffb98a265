//! `mintage store scopes`, and the comparison of scopes with the numbers of a table.

use super::look::Looked;
use super::paste::Paste;
use crate::exit::{Failure, Outcome};
use crate::output::{self, Palette};
use crate::reach::{self, Trust};
use clap::Args;
use mintage_keys::maxima::{self, Maximum, Numbered};
use mintage_keys::open::Options;
use mintage_lease::request::{MAX_PAGE, Page, Shown};
use mintage_lease::space::ScopeTerms;
use mintage_lease::state::{LONGEST_SCOPE, ScopeName, ScopeRow};
use mintage_lease::store::Desk;
use mintage_lease::{Error, Refusal};
use serde::Serialize;
use std::collections::HashMap;
use std::io::Write;
use std::str::FromStr;
use std::sync::Arc;

/// List the scopes of a space, in the order of their names' bytes: what each hands out next.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage store scopes sqlite:ids.db issues\n  mintage store scopes sqlite:ids.db issues --after 42 --most 20"
)]
pub(crate) struct Scopes {
    /// The store's URL, unless MINTAGE_STORE has it, and the space's name
    #[arg(value_names = ["URL", "SPACE"], num_args = 1..=2, required = true)]
    place: Vec<String>,
    /// This one alone; exits 1 when nothing was taken of it yet
    #[arg(long, value_name = "NAME", value_parser = ScopeName::from_str, allow_hyphen_values = true, conflicts_with_all = ["after", "most"])]
    scope: Option<ScopeName>,
    /// Those after this one
    #[arg(long, value_name = "NAME", value_parser = ScopeName::from_str, allow_hyphen_values = true)]
    after: Option<ScopeName>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    most: u64,
    #[command(flatten)]
    trust: Trust,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ScopeShown<'a> {
    scope: &'a str,
    next: String,
    serial: String,
}

impl Scopes {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let (url, [name]) = reach::url_and(&self.place, "the space's name")?;
        let store = self.trust.open(&url)?;
        let (rows, is_all) = reach::wait(async {
            let desk = Desk::open(Arc::clone(&store), &name, reach::soon()).await?;
            if let Some(scope) = &self.scope {
                let row = desk.scope(&self.trust.caller(), scope.clone(), reach::soon()).await?.answer;
                return Ok((row.into_iter().collect(), true));
            }
            Ok(some(&desk, self.trust, self.after.clone(), self.most).await?)
        })?;
        let mut out = output::stdout();
        let mut lines = vec![["SCOPE", "NEXT", "SERIAL"].map(str::to_owned).to_vec()];
        for row in &rows {
            let (next, serial) = (row.next.to_string(), row.serial.to_string());
            if self.json {
                output::json_line(&mut out, &ScopeShown { scope: row.scope.as_str(), next, serial })?;
            } else {
                lines.push(vec![output::harmless_line(row.scope.as_str()), next, serial]);
            }
        }
        if !self.json {
            output::columns(&mut out, &lines, Palette::of_stdout())?;
        }
        out.flush()?;
        if let (false, Some(last)) = (is_all, rows.last()) {
            let most = self.most.to_string();
            let mut words = vec!["--after", last.scope.as_str(), "--most", &most];
            words.extend(self.json.then_some("--json"));
            let command = Paste::of(&url, &name, self.trust).command("scopes", &words);
            eprintln!("mintage: there are more; go on with {}", output::harmless_line(&command));
        }
        Ok(if self.scope.is_some() && rows.is_empty() { Outcome::Found } else { Outcome::Done })
    }
}

/// The scopes after one, at most so many, and whether these are all.
async fn some(
    desk: &Desk,
    trust: Trust,
    mut after: Option<ScopeName>,
    most: u64,
) -> Result<(Vec<ScopeRow>, bool), Error> {
    let mut rows: Vec<ScopeRow> = Vec::new();
    loop {
        let left = most - rows.len() as u64;
        if left == 0 {
            let one = Page { after, most: 1 };
            let more = desk.scopes(&trust.caller(), one, reach::soon()).await?.answer;
            return Ok((rows, more.is_empty()));
        }
        let want = u32::try_from(left).unwrap_or(MAX_PAGE).min(MAX_PAGE);
        let page = Page { after: after.clone(), most: want };
        let found = desk.scopes(&trust.caller(), page, reach::soon()).await?.answer;
        let is_last = found.len() < want as usize;
        after = found.last().map(|row| row.scope.clone()).or(after);
        rows.extend(found);
        if is_last {
            return Ok((rows, true));
        }
    }
}

/// A table whose numbers scopes are compared with.
#[derive(Clone, Debug, Args)]
pub(crate) struct Against {
    /// Compare the scopes of the space with the largest number of each scope in a table of this database
    #[arg(long, value_name = "URL", requires_all = ["table", "column", "by"])]
    pub(super) against: Option<String>,
    /// The table, with its schema in front where that isn't the usual one
    #[arg(long, value_name = "TABLE", requires = "against")]
    table: Option<String>,
    /// Its column of numbers
    #[arg(long, value_name = "COLUMN", requires = "against")]
    column: Option<String>,
    /// Its column that says which scope a row is in
    #[arg(long, value_name = "COLUMN", requires = "against")]
    by: Option<String>,
}

/// Scopes of a table that are compared.
const MOST: u64 = 100_000;

/// Scopes that are told by name.
const MOST_TOLD: usize = 50;

impl Against {
    /// What there is to say of the scopes of a space in the store of this URL, worst first.
    pub(super) async fn look(
        &self,
        desk: &Desk,
        shown: &Shown,
        store: &str,
        trust: Trust,
    ) -> Result<Vec<Looked>, Failure> {
        let (Some(url), Some(table), Some(number), Some(by)) =
            (&self.against, &self.table, &self.column, &self.by)
        else {
            return Ok(Vec::new());
        };
        let name = &shown.space.name;
        let Some(terms) = shown.space.scopes() else {
            let kind = shown.space.kind.name();
            let refusal = Refusal::WrongKind { request: "--against", kind };
            return Err(crate::exit::usage(format!("{name}: {refusal}")));
        };
        let of = Numbered { table: table.clone(), number: number.clone(), by: by.clone() };
        let mut maxima = maxima::read(url, &Options::default(), &of, MOST + 1).await?;
        let is_all = maxima.len() as u64 <= MOST;
        maxima.truncate(usize::try_from(MOST).unwrap_or(usize::MAX));
        let (rows, _) = some(desk, trust, None, u64::MAX).await?;
        let next: HashMap<&str, u64> = rows.iter().map(|row| (row.scope.as_str(), row.next)).collect();
        let begin = shown.state.block.next;
        let paste = Paste::of(store, name, trust);
        let mut told: Vec<String> =
            maxima.iter().filter_map(|maximum| behind(terms, maximum, &next, begin, &paste)).collect();
        let (count, looked_at) = (told.len(), maxima.len());
        told.truncate(MOST_TOLD);
        let line = |good, warning, found| Looked { what: "scopes", good, warning, found };
        let mut lines = Vec::new();
        if !is_all {
            lines.push(line(
                true,
                true,
                format!(
                    "{name}: {table} has more than {MOST} scopes; the first {MOST} by {by} were compared"
                ),
            ));
        }
        if count == 0 {
            lines.push(line(
                true,
                false,
                format!("{name}: all {looked_at} scopes of {table} stand above their largest {number}"),
            ));
        } else {
            lines.push(line(
                false,
                false,
                format!("{name}: {count} of {looked_at} scopes would hand out a {number} that {table} has"),
            ));
        }
        lines.extend(told.into_iter().map(|found| line(false, false, format!("{name}: {found}"))));
        if count > MOST_TOLD {
            lines.push(line(false, false, format!("{name}: and {} more", count - MOST_TOLD)));
        }
        Ok(lines)
    }
}

/// What is wrong with a scope whose largest number in use is known. One that isn't there yet counts as behind wherever it would begin: once
/// an operator says that nothing was lost, it begins with the first value.
fn behind(
    terms: &ScopeTerms,
    maximum: &Maximum,
    all: &HashMap<&str, u64>,
    begin: u64,
    paste: &Paste,
) -> Option<String> {
    let used = maximum.number;
    let Some(scope) = scope_name(&maximum.scope) else {
        let found = in_short(&maximum.scope);
        return Some(format!(
            "{found} is no name of a scope, so it can't be counted here; 1 to {LONGEST_SCOPE} bytes of UTF-8 without control characters expected"
        ));
    };
    let scope = scope.as_str();
    let next = all.get(scope);
    let (stands, is_behind) = match next {
        Some(next) => (format!("would hand out {next} next"), i128::from(*next) <= used),
        None => ("isn't there yet".to_owned(), used >= i128::from(terms.first)),
    };
    if !is_behind {
        return None;
    }
    let to = (used + 1).max(i128::from(next.copied().unwrap_or(begin)));
    let next_step = if to > i128::from(terms.last) {
        format!("the space ends with {}, so make one that ends later", terms.last)
    } else {
        let command = paste.command("bump", &["--scope", scope, "--to", &to.to_string()]);
        format!("{command} moves it above")
    };
    Some(format!("scope {scope:?} {stands}, and {used} is in use; {next_step}"))
}

/// The scope of these bytes, if they are the name of one.
fn scope_name(bytes: &[u8]) -> Option<ScopeName> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}

/// The beginning of what should be a name: as text, or as bytes where it is none.
fn in_short(bytes: &[u8]) -> String {
    const MOST: usize = 60;
    let end = if bytes.len() > MOST { "…" } else { "" };
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("{:?}{end}", &text[..text.floor_char_boundary(MOST)]),
        Err(_) => format!("b\"{}\"{end}", bytes[..bytes.len().min(MOST)].escape_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_behind_when_its_next_number_is_in_use_or_it_is_missing() {
        let terms = ScopeTerms::default();
        let trust = Trust { trust_store_clock: false, allow_unsafe: false };
        let paste = Paste::of("sqlite:ids.db", "issues", trust);
        let of = |scope: &[u8], number, next: Option<u64>| {
            let all = next.map(|next| ("4'2", next)).into_iter().collect();
            behind(&terms, &Maximum { scope: scope.to_vec(), number }, &all, 1_001, &paste)
        };
        let told = |number, next| of(b"4'2", number, next);
        assert_eq!(told(9, Some(10)), None);
        let bump = r"`mintage store bump sqlite:ids.db issues --scope '4'\''2' --to";
        assert!(told(9, Some(9)).unwrap().contains(&format!("{bump} 10`")));
        assert_eq!(told(0, None), None);
        let missing = told(1, None).unwrap();
        assert!(missing.contains(&format!("isn't there yet, and 1 is in use; {bump} 1001`")), "{missing}");
        assert!(told(i128::from(u64::MAX), Some(5)).unwrap().contains("ends later"));
        for (scope, shown) in [
            (&b"\xffa\0"[..], r#"b"\xffa\x00" is no name"#),
            (b"", "\"\" is no name"),
            (b"a\n", r#""a\n" is no name"#),
        ] {
            let told = of(scope, 1, None).unwrap();
            assert!(told.starts_with(shown), "{told}");
        }
    }
}

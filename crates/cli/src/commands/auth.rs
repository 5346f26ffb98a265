//! `mintage auth`: who may use a server.

use crate::exit::{Failure, Outcome, usage};
use crate::output;
use clap::{Args, Subcommand};
use mintage_service::config::{CREDENTIALS, SETTINGS};
use mintage_service::credentials::{Credential, CredentialsFile, Error, New, Permission};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Make, list and revoke the credentials of a server.
///
/// Once there is a file of credentials, `mintage serve` asks every request for a token: `Authorization: Bearer TOKEN` in HTTP, `AUTH TOKEN` in the
/// Redis protocol. The file holds hashes alone, and running servers know within two seconds what changed in it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage auth add shop --allow mint:orders --ids-per-second 10000\n  mintage auth list\n  mintage auth revoke shop"
)]
pub(crate) struct Auth {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Add(Add),
    List(List),
    Revoke(Revoke),
}

/// Make a credential, and print its token, which is kept nowhere.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mintage auth add shop --allow mint:orders --allow read\n  mintage auth add ops --allow admin --file /etc/mintage/credentials.toml"
)]
struct Add {
    /// Whose it is
    name: String,
    /// What it allows: mint:SPACE, lease:SPACE, read or admin; SPACE may be * for all
    #[arg(long, value_name = "WHAT", required = true, value_parser = permission)]
    allow: Vec<Permission>,
    /// Most ids a second [default: no limit]
    #[arg(long, value_name = "N")]
    ids_per_second: Option<u32>,
    /// Most ids of one request [default: the server's --max-count]
    #[arg(long, value_name = "N")]
    max_count: Option<u64>,
    #[command(flatten)]
    place: Place,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// List credentials, without anything that is secret.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mintage auth list\n  mintage auth list --json")]
struct List {
    #[command(flatten)]
    place: Place,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// Revoke a credential. Running servers know within two seconds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  mintage auth revoke shop")]
struct Revoke {
    /// Whose it is
    name: String,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
struct Place {
    /// The file of credentials [default: credentials.toml in the data folder, or MINTAGE_CREDENTIALS]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The server's data folder [default: mintage-data, or MINTAGE_DATA]
    #[arg(long, value_name = "FOLDER", conflicts_with = "file")]
    data: Option<PathBuf>,
}

fn permission(text: &str) -> Result<Permission, String> {
    text.parse()
}

impl Place {
    /// Where a server that was told the same looks.
    fn file(&self) -> CredentialsFile {
        let default = |name: &str| {
            let setting = SETTINGS.iter().find(|setting| setting.name == name);
            let given = setting.and_then(|setting| std::env::var_os(setting.variable()));
            let given = given.filter(|given| !given.is_empty()).map(PathBuf::from);
            given.or_else(|| Some(setting?.default).filter(|text| !text.is_empty()).map(PathBuf::from))
        };
        let named =
            self.file.clone().or_else(|| if self.data.is_some() { None } else { default("credentials") });
        let in_data = || self.data.clone().or_else(|| default("data")).unwrap_or_default().join(CREDENTIALS);
        CredentialsFile::at(named.unwrap_or_else(in_data))
    }
}

impl Auth {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        match self.action {
            Action::Add(add) => add.run(),
            Action::List(list) => list.run(),
            Action::Revoke(revoke) => revoke.run(),
        }
    }
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Wrong(_) => usage(error),
        error => Failure::Cannot(error.into()),
    }
}

impl Add {
    fn run(self) -> Result<Outcome, Failure> {
        let new = New {
            name: &self.name,
            allow: &self.allow,
            ids_per_second: self.ids_per_second,
            max_count: self.max_count,
        };
        let (made, token) = self.place.file().add(&new).map_err(failure)?;
        let mut out = output::stdout();
        if self.json {
            let mut object = shown(&made);
            object["token"] = token.as_str().into();
            writeln!(out, "{object}")?;
        } else {
            eprintln!("mintage: the token of {:?}, which is kept nowhere and not shown again:", made.name);
            writeln!(out, "{}", token.as_str())?;
        }
        out.flush()?;
        Ok(Outcome::Done)
    }
}

impl List {
    fn run(self) -> Result<Outcome, Failure> {
        let all = self.place.file().list().map_err(failure)?.unwrap_or_default();
        let mut out = output::stdout();
        for credential in &all {
            if self.json {
                writeln!(out, "{}", shown(credential))?;
                continue;
            }
            let rate = credential.ids_per_second.map(|rate| format!(", {rate} ids/s")).unwrap_or_default();
            let most =
                credential.max_count.map(|most| format!(", at most {most} a request")).unwrap_or_default();
            let state = match &credential.revoked {
                Some(at) => format!("revoked {at}"),
                None => format!("since {}", credential.created),
            };
            let allow = credential.allow.join(", ");
            writeln!(out, "{}  mintage_{}…  {state}: {allow}{rate}{most}", credential.name, credential.id)?;
        }
        out.flush()?;
        if all.is_empty() {
            eprintln!(
                "mintage: there are no credentials; `mintage auth add NAME --allow mint:SPACE` makes one"
            );
        }
        Ok(Outcome::Done)
    }
}

impl Revoke {
    fn run(self) -> Result<Outcome, Failure> {
        self.place.file().revoke(&self.name).map_err(failure)?;
        Ok(Outcome::Done)
    }
}

fn shown(credential: &Credential) -> Value {
    json!({
        "name": credential.name,
        "id": credential.id,
        "allow": credential.allow,
        "ids_per_second": credential.ids_per_second,
        "max_count": credential.max_count.map(|most| most.to_string()),
        "created": credential.created,
        "revoked": credential.revoked,
    })
}

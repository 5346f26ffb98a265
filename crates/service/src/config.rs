//! How a server is told what to do: flags over environment over a file over defaults, from one list of settings.

use crate::log::{Form, Requests};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a server goes by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Where the embedded store lies.
    pub data: PathBuf,
    /// The store's URL; the embedded one's unless given.
    pub store: Option<String>,
    /// Where HTTP is spoken.
    pub listen: Option<SocketAddr>,
    /// Where the Redis protocol is spoken, if anywhere.
    pub redis: Option<SocketAddr>,
    /// The certificates of both listeners, as a file of PEM.
    pub tls_certificate: Option<PathBuf>,
    /// Their key, as a file of PEM.
    pub tls_key: Option<PathBuf>,
    /// Who signs the certificates that clients must show, as a file of PEM; they need none where there is no file.
    pub tls_client_ca: Option<PathBuf>,
    /// The file of credentials; in the data folder unless given.
    pub credentials: Option<PathBuf>,
    /// The folder of files of keys, one a facade.
    pub facades: Option<PathBuf>,
    /// An operator said that listeners others reach need no TLS.
    pub is_insecure: bool,
    /// An operator said that listeners others reach need no credentials.
    pub has_no_auth: bool,
    /// Most connections of each listener.
    pub max_connections: usize,
    /// Most ids of one request.
    pub max_count: u64,
    /// Most requests that wait for a store or for ticks at once.
    pub max_waiting: usize,
    /// How long a request may take, and a client to read its answer.
    pub request: Duration,
    /// How long a client of HTTP may take to send the head of a request, or keep a connection without one.
    pub idle: Duration,
    /// How long requests may take to end once the server is told to.
    pub drain: Duration,
    /// How lines of the log look.
    pub log: Form,
    /// Which requests have one.
    pub log_requests: Requests,
}

/// One setting: its name as a flag and in the file; in the environment with `MINTAGE_` before it, in capitals.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The name.
    pub name: &'static str,
    /// What stands for its value in help; nothing for a switch, which is on when it is named.
    pub value: Option<&'static str>,
    /// What it is for.
    pub about: &'static str,
    /// What it is unless given.
    pub default: &'static str,
    /// Puts a text into place; the error says what was expected.
    set: fn(&mut Config, &str) -> Result<(), String>,
    /// What is in place, as it stands in a file.
    shown: fn(&Config) -> toml::Value,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Setting {
    /// Its variable in the environment.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("MINTAGE_{}", self.name.replace('-', "_").to_ascii_uppercase())
    }
}

/// All settings.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "data",
        value: Some("FOLDER"),
        about: "the folder of the embedded store and of credentials; made where it is missing",
        default: "mintage-data",
        set: |config, text| {
            config.data = PathBuf::from(text);
            if text.is_empty() { Err("a folder".to_owned()) } else { Ok(()) }
        },
        shown: |config| shown_path(Some(&config.data)),
    },
    Setting {
        name: "store",
        value: Some("URL"),
        about: "the store's URL, such as postgres://host/db; empty for the embedded one in the data folder",
        default: "",
        set: |config, text| {
            config.store = Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
            Ok(())
        },
        shown: |config| {
            config.store.as_deref().map(mintage_lease::store::redacted).unwrap_or_default().into()
        },
    },
    Setting {
        name: "listen",
        value: Some("ADDRESS"),
        about: "address and port of HTTP",
        default: "127.0.0.1:8090",
        set: |config, text| {
            config.listen = Some(address(text)?);
            Ok(())
        },
        shown: |config| shown_address(config.listen),
    },
    Setting {
        name: "redis",
        value: Some("ADDRESS"),
        about: "address and port of the Redis protocol; empty for none",
        default: "127.0.0.1:6390",
        set: |config, text| {
            config.redis = if text.is_empty() { None } else { Some(address(text)?) };
            Ok(())
        },
        shown: |config| shown_address(config.redis),
    },
    Setting {
        name: "tls-certificate",
        value: Some("FILE"),
        about: "certificates of both listeners, PEM, the server's own first; read again when it changes; empty for no TLS",
        default: "",
        set: |config, text| set_path(&mut config.tls_certificate, text),
        shown: |config| shown_path(config.tls_certificate.as_ref()),
    },
    Setting {
        name: "tls-key",
        value: Some("FILE"),
        about: "the key of that certificate, PEM",
        default: "",
        set: |config, text| set_path(&mut config.tls_key, text),
        shown: |config| shown_path(config.tls_key.as_ref()),
    },
    Setting {
        name: "tls-client-ca",
        value: Some("FILE"),
        about: "who signs the certificates that every client must show, PEM; empty where clients need none",
        default: "",
        set: |config, text| set_path(&mut config.tls_client_ca, text),
        shown: |config| shown_path(config.tls_client_ca.as_ref()),
    },
    Setting {
        name: "credentials",
        value: Some("FILE"),
        about: "the file that `mintage auth` writes; empty for credentials.toml in the data folder. Where it is there, every request needs one of its tokens",
        default: "",
        set: |config, text| set_path(&mut config.credentials, text),
        shown: |config| shown_path(config.credentials.as_ref()),
    },
    Setting {
        name: "facades",
        value: Some("FOLDER"),
        about: "a folder of files that `mintage facade keygen` makes: NAME.toml is the facade NAME; read again when it changes; empty for none",
        default: "",
        set: |config, text| set_path(&mut config.facades, text),
        shown: |config| shown_path(config.facades.as_ref()),
    },
    Setting {
        name: "insecure",
        value: None,
        about: "listeners that others can reach may go without TLS",
        default: "false",
        set: |config, text| {
            config.is_insecure = truth(text)?;
            Ok(())
        },
        shown: |config| config.is_insecure.into(),
    },
    Setting {
        name: "no-auth",
        value: None,
        about: "listeners that others can reach may go without credentials",
        default: "false",
        set: |config, text| {
            config.has_no_auth = truth(text)?;
            Ok(())
        },
        shown: |config| config.has_no_auth.into(),
    },
    Setting {
        name: "max-connections",
        value: Some("N"),
        about: "most connections of each listener; one more is told to come again",
        default: "10000",
        set: |config, text| {
            config.max_connections = within(text, 1, 1_000_000)?;
            Ok(())
        },
        shown: |config| shown_number(config.max_connections as u64),
    },
    Setting {
        name: "max-count",
        value: Some("N"),
        about: "most ids of one request",
        default: "100000",
        set: |config, text| {
            config.max_count = within(text, 1, 1_000_000)?;
            Ok(())
        },
        shown: |config| shown_number(config.max_count),
    },
    Setting {
        name: "max-waiting",
        value: Some("N"),
        about: "most requests that wait for a store or for time to pass at once; one more is told to come again",
        default: "4096",
        set: |config, text| {
            config.max_waiting = within(text, 1, 1_000_000)?;
            Ok(())
        },
        shown: |config| shown_number(config.max_waiting as u64),
    },
    Setting {
        name: "request-seconds",
        value: Some("SECONDS"),
        about: "how long a request may take, and a client to read its answer",
        default: "30",
        set: |config, text| set_seconds(&mut config.request, text, 1),
        shown: |config| shown_number(config.request.as_secs()),
    },
    Setting {
        name: "idle-seconds",
        value: Some("SECONDS"),
        about: "how long a client of HTTP may take to send the head of a request, or keep a connection without one",
        default: "75",
        set: |config, text| set_seconds(&mut config.idle, text, 1),
        shown: |config| shown_number(config.idle.as_secs()),
    },
    Setting {
        name: "drain-seconds",
        value: Some("SECONDS"),
        about: "how long requests may take to end once the server is told to",
        default: "10",
        set: |config, text| set_seconds(&mut config.drain, text, 0),
        shown: |config| shown_number(config.drain.as_secs()),
    },
    Setting {
        name: "log",
        value: Some("FORM"),
        about: "lines of the log on standard error: text, json, or off",
        default: "text",
        set: |config, text| {
            config.log = text.parse()?;
            Ok(())
        },
        shown: |config| config.log.name().into(),
    },
    Setting {
        name: "log-requests",
        value: Some("WHICH"),
        about: "which requests have a line: none, errors of the server and its store, or all",
        default: "errors",
        set: |config, text| {
            config.log_requests = text.parse()?;
            Ok(())
        },
        shown: |config| config.log_requests.name().into(),
    },
];

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "an address and a port, such as 127.0.0.1:8090 or [::1]:8090".to_owned())
}

fn truth(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "true or false".to_owned())
}

fn within<N>(text: &str, least: N, most: N) -> Result<N, String>
where
    N: std::str::FromStr + PartialOrd + fmt::Display,
{
    let number = text.parse().ok().filter(|number| (&least..=&most).contains(&number));
    number.ok_or_else(|| format!("a number from {least} to {most}"))
}

fn set_seconds(place: &mut Duration, text: &str, least: u64) -> Result<(), String> {
    *place = Duration::from_secs(
        within(text, least, 3_600).map_err(|_| format!("whole seconds from {least} to 3600"))?,
    );
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "what a setting's function returns")]
fn set_path(place: &mut Option<PathBuf>, text: &str) -> Result<(), String> {
    *place = if text.is_empty() { None } else { Some(PathBuf::from(text)) };
    Ok(())
}

fn shown_path(path: Option<&PathBuf>) -> toml::Value {
    path.map(|path| path.display().to_string()).unwrap_or_default().into()
}

fn shown_address(address: Option<SocketAddr>) -> toml::Value {
    address.map(|address| address.to_string()).unwrap_or_default().into()
}

fn shown_number(number: u64) -> toml::Value {
    // No setting is above a million.
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// What is wrong with what a server was told; whoever told it is named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// A value that isn't one.
    #[error("{place}: {given:?} was given, {expected} expected")]
    Value {
        /// The flag, the variable, or the file with the key.
        place: String,
        /// What was given.
        given: String,
        /// What was expected.
        expected: String,
    },
    /// A file that can't be read, or is no TOML.
    #[error("{path}: {fault}")]
    File {
        /// The file.
        path: String,
        /// Why.
        fault: String,
    },
    /// A key that there isn't.
    #[error("{path}: there is no setting {name:?}; did you mean {nearest}?")]
    Name {
        /// The file.
        path: String,
        /// The key.
        name: String,
        /// The nearest.
        nearest: &'static str,
    },
    /// Settings that don't go together.
    #[error("{0}")]
    Together(&'static str),
    /// A listener that others can reach, without what protects it.
    #[error("{name} = {address} can be reached by others, and {lacks}; or listen on 127.0.0.1")]
    Open {
        /// The setting.
        name: &'static str,
        /// The address.
        address: SocketAddr,
        /// What it lacks, and what to do.
        lacks: String,
    },
}

/// Values by setting's name, and who gave them.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    values: BTreeMap<&'static str, (String, String)>,
}

impl Layer {
    /// What flags say.
    pub fn of_flags(flags: impl IntoIterator<Item = (&'static str, Option<String>)>) -> Self {
        let given = flags.into_iter().filter_map(|(name, value)| Some((name, (format!("--{name}"), value?))));
        Self { values: given.collect() }
    }

    /// What the environment says, by `look`.
    ///
    /// # Errors
    /// [`Wrong::Value`] for a variable that isn't UTF-8.
    pub fn of_environment(look: impl Fn(&str) -> Option<OsString>) -> Result<Self, Wrong> {
        let mut values = BTreeMap::new();
        for setting in SETTINGS {
            let variable = setting.variable();
            let Some(value) = look(&variable) else { continue };
            let value = value.into_string().map_err(|given| Wrong::Value {
                place: variable.clone(),
                given: given.to_string_lossy().into_owned(),
                expected: "a text of UTF-8".to_owned(),
            })?;
            values.insert(setting.name, (variable, value));
        }
        Ok(Self { values })
    }

    /// What a file says.
    ///
    /// # Errors
    /// [`Wrong::File`], [`Wrong::Name`], and [`Wrong::Value`] for a value that is no text, number or truth.
    pub fn of_file(path: &Path) -> Result<Self, Wrong> {
        let fault = |fault: String| Wrong::File { path: path.display().to_string(), fault };
        let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
        Self::of_text(&path.display().to_string(), &text)
    }

    /// The same where it was read already.
    ///
    /// # Errors
    /// See [`Layer::of_file`].
    pub fn of_text(path: &str, text: &str) -> Result<Self, Wrong> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| Wrong::File {
            path: path.to_owned(),
            fault: error.message().to_owned(),
        })?;
        let mut values = BTreeMap::new();
        for (name, value) in &table {
            let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
                let nearest =
                    SETTINGS.iter().min_by_key(|setting| strsim::damerau_levenshtein(name, setting.name));
                let nearest = nearest.map_or("", |setting| setting.name);
                return Err(Wrong::Name { path: path.to_owned(), name: name.to_string(), nearest });
            };
            let value = match value {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Boolean(truth) => truth.to_string(),
                other => {
                    let (given, expected) = (other.to_string(), "a text, a number or a truth".to_owned());
                    return Err(Wrong::Value { place: format!("{path}: {name}"), given, expected });
                }
            };
            values.insert(setting.name, (format!("{path}: {name}"), value));
        }
        Ok(Self { values })
    }
}

impl Config {
    /// Defaults, with what the layers say; a later one wins.
    ///
    /// # Errors
    /// [`Wrong::Value`], and [`Wrong::Together`].
    pub fn of(layers: &[Layer]) -> Result<Self, Wrong> {
        let mut config = Self::default();
        for setting in SETTINGS {
            // The test of the list shows that every default is taken.
            let _ = (setting.set)(&mut config, setting.default);
            let given = layers.iter().rev().find_map(|layer| layer.values.get(setting.name));
            let Some((place, text)) = given else { continue };
            (setting.set)(&mut config, text).map_err(|expected| Wrong::Value {
                place: place.clone(),
                given: text.clone(),
                expected,
            })?;
        }
        match (&config.tls_certificate, &config.tls_key, &config.tls_client_ca) {
            (Some(_), Some(_), _) | (None, None, None) => Ok(config),
            (None, None, Some(_)) => Err(Wrong::Together(
                "tls-client-ca goes with tls-certificate and tls-key: without TLS no client shows a certificate",
            )),
            _ => Err(Wrong::Together(
                "tls-certificate and tls-key go together: one was given without the other",
            )),
        }
    }

    /// Whether each listener that others can reach is protected, or an operator said that it needn't be.
    ///
    /// # Errors
    /// [`Wrong::Open`].
    pub fn check_listeners(&self, has_credentials: bool) -> Result<(), Wrong> {
        let mut lacks = Vec::new();
        if self.tls_certificate.is_none() && !self.is_insecure {
            lacks.push("has no TLS: give --tls-certificate and --tls-key, or say --insecure where the way to it is safe");
        }
        if !has_credentials && !self.has_no_auth {
            lacks.push(
                "asks for no credentials: `mintage auth add NAME --allow mint:SPACE` makes one, or say --no-auth where everybody who reaches it may mint",
            );
        }
        for (name, address) in [("listen", self.listen), ("redis", self.redis)] {
            let Some(address) = address else { continue };
            if !lacks.is_empty() && !address.ip().is_loopback() {
                return Err(Wrong::Open { name, address, lacks: lacks.join(", and ") });
            }
        }
        Ok(())
    }

    /// All settings as a file, commented.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Flags (--NAME) go over the environment (MINTAGE_NAME), which goes over this file.\n",
        );
        for setting in SETTINGS {
            let (name, about, default) = (setting.name, setting.about, setting.default);
            let _ = write!(text, "\n# {about}. Default: {default:?}\n{name} = {}\n", (setting.shown)(self));
        }
        text
    }

    /// The URL of its store.
    #[must_use]
    pub fn store_url(&self) -> String {
        self.store.clone().unwrap_or_else(|| format!("sqlite:{}", self.data.join("ids.db").display()))
    }

    /// Where its credentials are.
    #[must_use]
    pub fn credentials_file(&self) -> PathBuf {
        self.credentials.clone().unwrap_or_else(|| self.data.join(CREDENTIALS))
    }
}

/// The file of credentials in a data folder.
pub const CREDENTIALS: &str = "credentials.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_one_and_what_is_printed_is_read_again() {
        for setting in SETTINGS {
            assert_eq!((setting.set)(&mut Config::default(), setting.default), Ok(()), "{setting:?}");
        }
        let flags = [
            ("redis", Some(String::new())),
            ("drain-seconds", Some("3".to_owned())),
            ("store", Some("sqlite:a'b\".db".to_owned())),
        ];
        let config = Config::of(&[Layer::of_flags(flags)]).unwrap();
        assert_ne!(config, Config::of(&[]).unwrap());
        assert_eq!(Config::of(&[Layer::of_text("f", &config.text()).unwrap()]), Ok(config));
    }

    #[test]
    fn flags_go_over_the_environment_over_the_file() {
        let file = Layer::of_text("f", "listen = '127.0.0.1:1'\nredis = '127.0.0.1:1'\ndrain-seconds = 1\n")
            .unwrap();
        let environment = Layer::of_environment(|name| {
            matches!(name, "MINTAGE_REDIS" | "MINTAGE_DRAIN_SECONDS")
                .then(|| if name.ends_with("REDIS") { "127.0.0.1:2" } else { "2" }.into())
        })
        .unwrap();
        let flags = Layer::of_flags([("drain-seconds", Some("3".to_owned())), ("listen", None)]);
        let config = Config::of(&[file, environment, flags]).unwrap();
        assert_eq!(config.listen.map(|address| address.port()), Some(1));
        assert_eq!(config.redis.map(|address| address.port()), Some(2));
        assert_eq!(config.drain.as_secs(), 3);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let told = |layer: Layer| Config::of(&[layer]).unwrap_err().to_string();
        let flag = |name, text: &str| Layer::of_flags([(name, Some(text.to_owned()))]);
        assert!(
            told(flag("listen", "localhost")).starts_with("--listen: \"localhost\" was given, an address")
        );
        assert!(told(flag("drain-seconds", "-1")).contains("0 to 3600"));
        for (file, named) in
            [("lisen = 'x'", "did you mean listen?"), ("listen = [1]", "f: listen"), ("a = ", "f: ")]
        {
            let wrong = Layer::of_text("f", file).unwrap_err().to_string();
            assert!(wrong.contains(named), "{wrong}");
        }
    }

    #[test]
    fn a_listener_that_others_reach_needs_tls_and_credentials_or_a_word_for_each() {
        let of = |flags: &[&'static str]| {
            let open = ("listen", Some("0.0.0.0:8090".to_owned()));
            let words = flags.iter().map(|name| (*name, Some("true".to_owned())));
            Config::of(&[Layer::of_flags(words.chain([open]))]).unwrap()
        };
        let told =
            |flags, has_credentials| of(flags).check_listeners(has_credentials).unwrap_err().to_string();
        assert!(told(&[], false).contains("--insecure") && told(&[], false).contains("--no-auth"));
        assert!(!told(&["insecure"], false).contains("--insecure"));
        assert!(!told(&["no-auth"], false).contains("--no-auth"));
        assert!(!told(&[], true).contains("--no-auth"));
        assert_eq!(of(&["insecure", "no-auth"]).check_listeners(false), Ok(()));
        assert_eq!(of(&["insecure"]).check_listeners(true), Ok(()));
        assert_eq!(of(&["tls-certificate", "tls-key"]).check_listeners(true), Ok(()));
        assert_eq!(Config::of(&[]).unwrap().check_listeners(false), Ok(()));
    }

    #[test]
    fn half_of_tls_is_none() {
        for half in ["tls-certificate", "tls-key", "tls-client-ca"] {
            let flags = Layer::of_flags([(half, Some("a.pem".to_owned()))]);
            assert!(matches!(Config::of(&[flags]), Err(Wrong::Together(_))), "{half}");
        }
    }

    #[test]
    fn a_variable_that_is_no_text_is_told() {
        use std::os::unix::ffi::OsStringExt;
        let look = |name: &str| (name == "MINTAGE_DATA").then(|| OsString::from_vec(vec![0xff]));
        assert!(Layer::of_environment(look).unwrap_err().to_string().starts_with("MINTAGE_DATA: "));
    }
}

//! How a server is told what to do: flags over environment over a file over defaults, from one list of settings.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// What a server goes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where the embedded store lies.
    pub data: PathBuf,
    /// The store's URL; the embedded one's unless given.
    pub store: Option<String>,
    /// Where HTTP is spoken.
    pub listen: SocketAddr,
    /// Where the Redis protocol is spoken, if anywhere.
    pub redis: Option<SocketAddr>,
    /// An operator said that listeners others reach need no TLS.
    pub is_insecure: bool,
    /// An operator said that listeners others reach need no credentials.
    pub has_no_auth: bool,
    /// How long requests may take to end once the server is told to.
    pub drain_seconds: u64,
}

/// One setting: its name as a flag and in the file; in the environment with `MINTAGE_` before it, in capitals.
#[derive(Clone, Copy)]
pub struct Setting {
    /// The name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What it is unless given.
    pub default: &'static str,
    /// Puts a text into place; the error says what was expected.
    set: fn(&mut Config, &str) -> Result<(), String>,
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All settings.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "data",
        about: "the folder of the embedded store; made where it is missing",
        default: "mintage-data",
        set: |config, text| {
            config.data = PathBuf::from(text);
            if text.is_empty() { Err("a folder".to_owned()) } else { Ok(()) }
        },
    },
    Setting {
        name: "store",
        about: "the store's URL, such as postgres://host/db; empty for the embedded one in the data folder",
        default: "",
        set: |config, text| {
            config.store = Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
            Ok(())
        },
    },
    Setting {
        name: "listen",
        about: "address and port of HTTP",
        default: "127.0.0.1:8090",
        set: |config, text| {
            config.listen = address(text)?;
            Ok(())
        },
    },
    Setting {
        name: "redis",
        about: "address and port of the Redis protocol; empty for none",
        default: "127.0.0.1:6390",
        set: |config, text| {
            config.redis = if text.is_empty() { None } else { Some(address(text)?) };
            Ok(())
        },
    },
    Setting {
        name: "insecure",
        about: "whether a listener that others can reach may go without TLS",
        default: "false",
        set: |config, text| {
            config.is_insecure = truth(text)?;
            Ok(())
        },
    },
    Setting {
        name: "no-auth",
        about: "whether a listener that others can reach may go without credentials",
        default: "false",
        set: |config, text| {
            config.has_no_auth = truth(text)?;
            Ok(())
        },
    },
    Setting {
        name: "drain-seconds",
        about: "how long requests may take to end once the server is told to",
        default: "10",
        set: |config, text| {
            let seconds = text.parse().ok().filter(|seconds| *seconds <= 3_600);
            config.drain_seconds = seconds.ok_or("whole seconds from 0 to 3600")?;
            Ok(())
        },
    },
];

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "an address and a port, such as 127.0.0.1:8090 or [::1]:8090".to_owned())
}

fn truth(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "true or false".to_owned())
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
    /// A listener that others can reach, without what protects it.
    #[error(
        "{name} = {address} can be reached by others, and has neither TLS nor credentials: listen on 127.0.0.1 behind something that has both, or \
         say --insecure and --no-auth where everybody who reaches it may mint"
    )]
    Open {
        /// The setting.
        name: &'static str,
        /// The address.
        address: SocketAddr,
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
    pub fn of_environment(look: impl Fn(&str) -> Option<String>) -> Self {
        let values = SETTINGS.iter().filter_map(|setting| {
            let variable = format!("MINTAGE_{}", setting.name.replace('-', "_").to_ascii_uppercase());
            let value = look(&variable)?;
            Some((setting.name, (variable, value)))
        });
        Self { values: values.collect() }
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

impl Default for Config {
    fn default() -> Self {
        let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut config = Self {
            data: PathBuf::new(),
            store: None,
            listen: nowhere,
            redis: None,
            is_insecure: false,
            has_no_auth: false,
            drain_seconds: 0,
        };
        for setting in SETTINGS {
            // The test of the list shows that every default is taken.
            let _ = (setting.set)(&mut config, setting.default);
        }
        config
    }
}

impl Config {
    /// Defaults, with what the layers say; a later one wins.
    ///
    /// # Errors
    /// [`Wrong::Value`], and [`Wrong::Open`] for a listener that isn't safe.
    pub fn of(layers: &[Layer]) -> Result<Self, Wrong> {
        let mut config = Self::default();
        for setting in SETTINGS {
            let given = layers.iter().rev().find_map(|layer| layer.values.get(setting.name));
            let Some((place, text)) = given else { continue };
            (setting.set)(&mut config, text).map_err(|expected| Wrong::Value {
                place: place.clone(),
                given: text.clone(),
                expected,
            })?;
        }
        for (name, address) in [("listen", Some(config.listen)), ("redis", config.redis)] {
            let Some(address) = address else { continue };
            let is_allowed = config.is_insecure && config.has_no_auth;
            if !is_allowed && !address.ip().is_loopback() {
                return Err(Wrong::Open { name, address });
            }
        }
        Ok(config)
    }

    /// All settings as a file, commented.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Flags (--NAME) go over the environment (MINTAGE_NAME), which goes over this file.\n",
        );
        for setting in SETTINGS {
            let value = match setting.name {
                "data" => quoted(&self.data.display().to_string()),
                "store" => {
                    quoted(&self.store.as_deref().map(mintage_lease::store::redacted).unwrap_or_default())
                }
                "listen" => quoted(&self.listen.to_string()),
                "redis" => quoted(&self.redis.map(|address| address.to_string()).unwrap_or_default()),
                "insecure" => self.is_insecure.to_string(),
                "no-auth" => self.has_no_auth.to_string(),
                _ => self.drain_seconds.to_string(),
            };
            let _ = write!(
                text,
                "\n# {}. Default: {:?}\n{} = {value}\n",
                setting.about, setting.default, setting.name
            );
        }
        text
    }

    /// The URL of its store.
    #[must_use]
    pub fn store_url(&self) -> String {
        self.store.clone().unwrap_or_else(|| format!("sqlite:{}", self.data.join("ids.db").display()))
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

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
        assert_ne!(config, Config::default());
        assert_eq!(Config::of(&[Layer::of_text("f", &config.text()).unwrap()]), Ok(config));
    }

    #[test]
    fn flags_go_over_the_environment_over_the_file() {
        let file = Layer::of_text("f", "listen = '127.0.0.1:1'\nredis = '127.0.0.1:1'\ndrain-seconds = 1\n")
            .unwrap();
        let environment = Layer::of_environment(|name| {
            matches!(name, "MINTAGE_REDIS" | "MINTAGE_DRAIN_SECONDS")
                .then(|| if name.ends_with("REDIS") { "127.0.0.1:2" } else { "2" }.to_owned())
        });
        let flags = Layer::of_flags([("drain-seconds", Some("3".to_owned())), ("listen", None)]);
        let config = Config::of(&[file, environment, flags]).unwrap();
        assert_eq!(config.listen.port(), 1);
        assert_eq!(config.redis.map(|address| address.port()), Some(2));
        assert_eq!(config.drain_seconds, 3);
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
    fn a_listener_that_others_reach_needs_both_words() {
        let open = ("listen", Some("0.0.0.0:8090".to_owned()));
        let (insecure, no_auth) =
            (("insecure", Some("true".to_owned())), ("no-auth", Some("true".to_owned())));
        for flags in
            [vec![open.clone()], vec![open.clone(), insecure.clone()], vec![open.clone(), no_auth.clone()]]
        {
            let wrong = Config::of(&[Layer::of_flags(flags)]).unwrap_err().to_string();
            assert!(wrong.contains("--insecure") && wrong.contains("--no-auth"), "{wrong}");
        }
        assert!(Config::of(&[Layer::of_flags([open, insecure, no_auth])]).is_ok());
    }
}

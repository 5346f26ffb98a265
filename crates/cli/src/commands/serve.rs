//! `mintage serve`: ids over HTTP and the Redis protocol.

use crate::exit::{Failure, Outcome, usage};
use crate::output;
use crate::reach::Trust;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use mintage_lease::SessionOptions;
use mintage_lease::store::redacted;
use mintage_service::api::FIRST_SPACES;
use mintage_service::config::{Config, Layer, SETTINGS};
use mintage_service::log;
use mintage_service::server::{Error, Server};
use std::io::Write;
use std::path::PathBuf;

/// Hand out ids over HTTP and the Redis protocol, from a store that any number of servers may share.
///
/// Without any flag: from a file in the folder mintage-data, to this host alone. SIGTERM and SIGINT end it once requests have ended, and give back
/// what it holds.
#[derive(Debug, Args)]
#[command(
    after_help = "Each setting may stand in the environment (MINTAGE_LISTEN) or in the file of --config too; --print-config shows all.\n\nExamples:\n  \
                  mintage serve\n  mintage serve --store postgres://app@localhost/shop --listen 127.0.0.1:9000\n  mintage serve --print-config > \
                  mintage.toml"
)]
pub(crate) struct Serve {
    /// Settings, as --print-config writes them
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// Print all settings as a file, with what they are here, and end
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    trust: Trust,
}

/// What flags say of the settings of a server: one flag a setting.
#[derive(Clone, Debug)]
struct Settings(Layer);

impl Settings {
    fn of(matches: &ArgMatches) -> Self {
        Self(Layer::of_flags(SETTINGS.iter().map(|setting| {
            let given = match setting.value {
                Some(_) => matches.get_one::<String>(setting.name).cloned(),
                None => matches.get_flag(setting.name).then(|| true.to_string()),
            };
            (setting.name, given)
        })))
    }
}

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        SETTINGS.iter().fold(command, |command, setting| {
            let arg = Arg::new(setting.name).long(setting.name);
            let mut about = setting.about.to_owned();
            about[..1].make_ascii_uppercase();
            command.arg(match setting.value {
                Some(value) => {
                    if !setting.default.is_empty() {
                        about.push_str(&format!(" [default: {}]", setting.default));
                    }
                    arg.value_name(value).help(about)
                }
                None => arg.action(ArgAction::SetTrue).help(about),
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self::of(matches))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::of(matches);
        Ok(())
    }
}

impl Serve {
    pub(crate) fn run(self) -> Result<Outcome, Failure> {
        let config = self.configured()?;
        let mut out = output::stdout();
        if self.print_config {
            out.write_all(config.text().as_bytes())?;
            out.flush()?;
            return Ok(Outcome::Done);
        }
        drop(out);
        let options = SessionOptions {
            open: self.trust.options(),
            trusts_clock: self.trust.trust_store_clock,
            ..SessionOptions::default()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let served = runtime.block_on(serve(&config, options));
        // A client that hangs must not keep the command from ending.
        runtime.shutdown_background();
        served.map(|()| Outcome::Done)
    }

    fn configured(&self) -> Result<Config, Failure> {
        let mut layers = Vec::new();
        if let Some(path) = &self.config {
            layers.push(Layer::of_file(path).map_err(usage)?);
        }
        layers.push(Layer::of_environment(|name| std::env::var_os(name)).map_err(usage)?);
        layers.push(self.settings.0.clone());
        Config::of(&layers).map_err(usage)
    }
}

async fn serve(config: &Config, options: SessionOptions) -> Result<(), Failure> {
    log::begin(config.log);
    let stop = stopped()?;
    tokio::pin!(stop);
    let server = Server::bind(config, options).await.map_err(|error| match error {
        Error::Store(error) => error.into(),
        Error::Wrong(wrong) => usage(wrong),
        error => Failure::Cannot(error.into()),
    })?;
    if server.most_connections() < config.max_connections {
        say(&format!(
            "the system lets this process open files for {} connections, {} are wanted: raise its limit (ulimit -n, LimitNOFILE=)",
            server.most_connections(),
            config.max_connections
        ));
    }
    let waiting = server.ready(|fault| say(&format!("waiting for the store: {fault}")));
    tokio::select! {
        ready = waiting => ready.map_err(|fault| Failure::Cannot(anyhow::anyhow!("{fault}")))?,
        () = &mut stop => return Ok(()),
    }
    // A server goes on where nobody reads what it prints.
    let _ = tell(config, &server);
    // Nobody is told where it wasn't started by systemd.
    let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]);
    let (end, ended) = tokio::sync::oneshot::channel();
    let running = server.run(
        async move {
            let _ = ended.await;
        },
        log::noted,
    );
    tokio::pin!(running);
    tokio::select! {
        run = &mut running => return run.map_err(|error| Failure::Cannot(error.into())),
        () = &mut stop => {}
    }
    say("ending; a second signal ends it at once");
    let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Stopping]);
    let _ = end.send(());
    let again = stopped()?;
    tokio::select! {
        run = &mut running => run.map_err(|error| Failure::Cannot(error.into())),
        () = again => Ok(()),
    }
}

/// A line for whoever runs it. A server doesn't end because nobody reads that any more.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "mintage: {line}");
}

/// Where it listens, and what to try.
fn tell(config: &Config, server: &Server) -> Result<(), Failure> {
    let mut out = output::stdout();
    let (http, redis) = (server.http_address()?, server.redis_address()?);
    let (scheme, curl) = if server.has_tls() { ("https", "curl --cacert ca.pem") } else { ("http", "curl") };
    let token = if server.asks_for_tokens() { " -H \"Authorization: Bearer $TOKEN\"" } else { "" };
    let curl = format!("{curl}{token}");
    writeln!(out, "http   {scheme}://{http}/v1")?;
    if let Some(redis) = redis {
        writeln!(out, "redis  {redis}{}", if server.has_tls() { " with TLS" } else { "" })?;
    }
    writeln!(out, "store  {}", redacted(&config.store_url()))?;
    if server.asks_for_tokens() {
        writeln!(out, "auth   by the tokens of {}", config.credentials_file().display())?;
    }
    let [ids, counter] = FIRST_SPACES;
    writeln!(
        out,
        "\ntry\n  {curl} -X POST '{scheme}://{http}/v1/spaces/{ids}/ids?count=3'\n  {curl} {scheme}://{http}/v1/ids/uuid-v7"
    )?;
    match redis {
        Some(redis) => {
            let tls = if server.has_tls() { " --tls --cacert ca.pem" } else { "" };
            let token = if server.asks_for_tokens() { " -a \"$TOKEN\" --no-auth-warning" } else { "" };
            writeln!(out, "  redis-cli -h {} -p {}{tls}{token} incr {counter}", redis.ip(), redis.port())?;
        }
        None => writeln!(out, "  {curl} -X POST {scheme}://{http}/v1/spaces/{counter}/ids")?,
    }
    out.flush()?;
    Ok(())
}

/// Ends at the first signal that asks for the end.
fn stopped() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

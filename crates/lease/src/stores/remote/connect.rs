//! Connections to a service: each carries one request at a time.

use crate::error::{Cause, Error};
use crate::own::Own;
use crate::store::{Deadline, redacted};
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Most bytes of an answer: a space with all of 4 million workers is more than anybody looks at.
const MOST_BYTES: usize = 256 << 20;

/// Most connections that are kept for the next request.
const MOST_IDLE: usize = 16;

/// Where the token is, when the URL has none.
const TOKEN: &str = "MINTAGE_TOKEN";

/// What a service answered.
pub(super) struct Outcome {
    pub(super) status: u16,
    pub(super) body: Bytes,
}

/// Why there is no answer.
pub(super) enum Trouble {
    /// Nothing was sent.
    NotSent(Cause),
    /// Nothing was sent, and no other attempt would be better.
    Fatal(Cause),
    /// It may have been carried out.
    Sent(Cause),
}

/// The way to a service.
pub(super) struct Connections {
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    token: Option<HeaderValue>,
    idle: Mutex<Vec<Own<SendRequest<Full<Bytes>>>>>,
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections")
            .field("host", &self.host)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

impl Connections {
    /// Those that a URL leads to: `http://host:port`, `https://token@host`, with `?ca=FILE` for whom the host doesn't trust, and `?insecure=true` where the way to
    /// another host is safe without TLS.
    pub(super) fn of(url: &str) -> Result<Self, Error> {
        let wrong = |fault: String| Error::Url { url: redacted(url), fault };
        let example = "one like https://host:8090 or http://127.0.0.1:8090 is expected";
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong(example.to_owned()))?;
        let parts = crate::stores::url::Parts::of(rest);
        let (mut ca, mut is_insecure) = (None, false);
        for option in parts.query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("ca", path)) => ca = Some(crate::stores::url::decoded(path)),
                Some(("insecure", "true")) => is_insecure = true,
                Some(("insecure", "false")) => {}
                _ => {
                    return Err(wrong(format!(
                        "there is no option {option:?}; ca=FILE and insecure=true are known"
                    )));
                }
            }
        }
        let place = parts.place.strip_suffix('/').unwrap_or(parts.place);
        let is_tls = scheme == "https";
        let place = crate::stores::url::with_port(place, if is_tls { 443 } else { 80 })
            .ok_or_else(|| wrong(format!("{place:?} is no host and port; {example}")))?;
        let (host, port) = place.rsplit_once(':').ok_or_else(|| wrong(example.to_owned()))?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let port = port.parse().map_err(|_| wrong(example.to_owned()))?;
        let login = parts.login.strip_prefix(':').unwrap_or(parts.login);
        let token = match login {
            "" => std::env::var(TOKEN).ok().filter(|token| !token.is_empty()),
            token => Some(crate::stores::url::decoded(token)),
        };
        let is_here = bare == "localhost"
            || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        if token.is_some() && !is_tls && !is_here && !is_insecure {
            return Err(wrong("the token would go unencrypted to another host; use https://, or say ?insecure=true where the way there is safe".to_owned()));
        }
        let token = token.map(|token| {
            let value = HeaderValue::try_from(format!("Bearer {token}"));
            let mut value =
                value.map_err(|_| wrong("the token has characters that no token has".to_owned()))?;
            value.set_sensitive(true);
            Ok::<_, Error>(value)
        });
        let tls = match (is_tls, &ca) {
            (false, None) => None,
            (false, Some(_)) => return Err(wrong("ca goes with https://".to_owned())),
            (true, ca) => {
                let config = config(ca.as_deref().map(Path::new)).map_err(&wrong)?;
                let name = ServerName::try_from(bare.to_owned());
                Some((TlsConnector::from(Arc::new(config)), name.map_err(|error| wrong(error.to_string()))?))
            }
        };
        Ok(Self { host: bare.to_owned(), port, tls, token: token.transpose()?, idle: Mutex::default() })
    }

    /// Closes those that nobody uses: they lead to a server that isn't the right one any more.
    pub(super) fn forget(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Asks, and waits for the whole answer until the deadline.
    pub(super) async fn ask(
        &self,
        method: &'static str,
        path: &str,
        body: Vec<u8>,
        deadline: Deadline,
    ) -> Result<Outcome, Trouble> {
        let connecting = tokio::time::timeout_at(deadline.0, self.take());
        let mut sender = connecting.await.map_err(|late| Trouble::NotSent(late.into()))??;
        let authority = if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, authority)
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_LENGTH, body.len());
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        let request =
            request.body(Full::new(Bytes::from(body))).map_err(|error| Trouble::Fatal(error.into()))?;
        let answering = async {
            let response =
                sender.try_send_request(request).await.map_err(|mut error| match error.take_message() {
                    Some(_) => Trouble::NotSent(error.into_error().into()),
                    None => Trouble::Sent(error.into_error().into()),
                })?;
            let status = response.status().as_u16();
            let body =
                Limited::new(response.into_body(), MOST_BYTES).collect().await.map_err(Trouble::Sent)?;
            Ok(Outcome { status, body: body.to_bytes() })
        };
        let answered = tokio::time::timeout_at(deadline.0, answering).await;
        let outcome = answered.map_err(|late| Trouble::Sent(late.into()))??;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST_IDLE {
            idle.push(Own::new(sender));
        }
        Ok(outcome)
    }

    /// A connection that nobody uses.
    async fn take(&self) -> Result<SendRequest<Full<Bytes>>, Trouble> {
        loop {
            let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut sender) = kept.and_then(Own::into_inner) else { break };
            // The service may have ended it meanwhile.
            if !sender.is_closed() && sender.ready().await.is_ok() {
                return Ok(sender);
            }
        }
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
        let stream = stream.map_err(|error| Trouble::NotSent(error.into()))?;
        stream.set_nodelay(true).map_err(|error| Trouble::NotSent(error.into()))?;
        match &self.tls {
            None => begun(TokioIo::new(stream)).await,
            Some((connector, name)) => {
                let stream = connector.connect(name.clone(), stream).await.map_err(|error| {
                    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
                    match inner {
                        // Whom it doesn't trust now it won't trust a moment later.
                        Some(rustls::Error::InvalidCertificate(_)) => Trouble::Fatal(error.into()),
                        _ => Trouble::NotSent(error.into()),
                    }
                })?;
                begun(TokioIo::new(stream)).await
            }
        }
    }
}

async fn begun<S>(stream: TokioIo<S>) -> Result<SendRequest<Full<Bytes>>, Trouble>
where
    TokioIo<S>: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (sender, connection) = handshake(stream).await.map_err(|error| Trouble::NotSent(error.into()))?;
    // It ends with its sender, and how is told there.
    tokio::spawn(async move {
        let _ = connection.await;
    });
    Ok(sender)
}

/// TLS to whom this file, or the host, trusts.
fn config(ca: Option<&Path>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    match ca {
        Some(path) => {
            let wrong = |error: rustls::pki_types::pem::Error| {
                format!("{}: no certificates in PEM: {error}", path.display())
            };
            for root in CertificateDer::pem_file_iter(path).map_err(wrong)? {
                roots.add(root.map_err(wrong)?).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err("there is no certificate to trust; name a file by ?ca=FILE".to_owned());
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_that_lead_nowhere_or_tell_a_token_are_refused() {
        for (url, told) in [
            ("http://", "no host"),
            ("http://h:0", "no host"),
            ("http://h/path", "no host"),
            ("http://h?x=1", "no option"),
            ("http://secret@h", "unencrypted"),
            ("http://h?ca=x", "goes with https"),
            ("https://h?ca=/nowhere.pem", "/nowhere.pem"),
        ] {
            let error = Connections::of(url).unwrap_err().to_string();
            assert!(error.contains(told) && !error.contains("secret"), "{url}: {error}");
        }
        for url in [
            "http://127.0.0.1:1",
            "http://secret@localhost:1/",
            "http://:secret@[::1]",
            "http://secret@h?insecure=true",
        ] {
            assert!(Connections::of(url).is_ok(), "{url}");
        }
    }
}

//! Why a connection through a proxy failed: the proxy and its variable are named, with the status it answered.

use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use zeroize::Zeroizing;

use crate::intake::proxy::Proxy;

/// How long the proxy may take to repeat its refusal.
const PATIENCE: Duration = Duration::from_secs(3);
/// In bytes. A status line is much shorter.
const LONGEST_LINE: usize = 256;

/// What a proxy did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProxyFault {
    #[error("refused the connection")]
    Refused,
    #[error("was not found by its name")]
    Name,
    #[error("did not respond in time")]
    TimedOut,
    #[error("requires a user name and a password (HTTP 407)")]
    Login,
    #[error("refuses to connect to this host (HTTP {0})")]
    Status(u16),
    #[error("could not connect to it")]
    Tunnel,
}

/// What to do if the proxy wants a password.
pub(crate) const PROXY_LOGIN: &str = "put the user name and password into its variable (such as HTTPS_PROXY): \
    http://USER:PASSWORD@HOST:PORT";

impl ProxyFault {
    /// What to do about it.
    pub fn next(self) -> &'static str {
        match self {
            Self::Refused | Self::Name | Self::TimedOut => {
                "check the variable and whether the proxy runs, or remove proxy_from_environment from the profile"
            }
            Self::Login => PROXY_LOGIN,
            Self::Status(502..=504) => {
                "the proxy does not reach the service: check `base_url`, and ask the proxy administrator"
            }
            Self::Status(_) | Self::Tunnel => {
                "ask the proxy administrator to allow this host, or name the host in NO_PROXY"
            }
        }
    }
}

/// The proxy as a setting of the HTTP client.
pub(super) fn setting(proxy: &Proxy) -> reqwest::Result<reqwest::Proxy> {
    let scheme = if proxy.is_encrypted { "https" } else { "http" };
    let setting = reqwest::Proxy::all(format!("{scheme}://{}", proxy.address))?;
    Ok(match &proxy.login {
        Some(login) => setting.basic_auth(&login.user, &login.password),
        None => setting,
    })
}

/// Asks the proxy once more for the connection and returns the status of its answer. Nothing of ours is sent to it. `client`
/// only writes the login, as it does for its own connections.
pub(super) async fn status(
    client: &reqwest::Client,
    proxy: &Proxy,
    host: &str,
    port: u16,
) -> Option<u16> {
    if proxy.is_encrypted {
        return None;
    }
    let asked = async {
        let mut stream = TcpStream::connect(&proxy.address).await.ok()?;
        let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
        if let Some(login) = &proxy.login {
            let asked = client.get(format!("http://{}", proxy.address));
            let asked = asked.basic_auth(&*login.user, Some(&*login.password));
            let asked = asked.build().ok()?;
            request.push_str("Proxy-Authorization: ");
            request.push_str(asked.headers().get(AUTHORIZATION)?.to_str().ok()?);
            request.push_str("\r\n");
        }
        request.push_str("\r\n");
        let request = Zeroizing::new(request);
        stream.write_all(request.as_bytes()).await.ok()?;
        let mut line = Vec::new();
        while line.len() < LONGEST_LINE && !line.ends_with(b"\n") {
            line.push(stream.read_u8().await.ok()?);
        }
        let line = String::from_utf8_lossy(&line);
        line.split(' ').nth(1)?.trim().parse().ok()
    };
    timeout(PATIENCE, asked).await.ok()?
}

//! A TLS handshake on its own, as the client does it, so that it can be timed separately from connection and answer.

use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    rustls::pki_types::{CertificateDer, ServerName},
};

use super::tls::trusting;

/// Performs the handshake over this connection and closes it; returns the TLS version as text. `None` if it failed: a
/// complete request will give a better reason.
pub(super) async fn perform(
    connector: &TlsConnector,
    host: &str,
    stream: TcpStream,
) -> Option<String> {
    let name = ServerName::try_from(host.to_owned()).ok()?;
    let stream = connector.connect(name, stream).await.ok()?;
    let (_, connection) = stream.get_ref();
    let version = connection.protocol_version()?.as_str()?;
    Some(version.replace("TLSv1_", "TLS 1."))
}

/// Trusts the same certificate authorities as requests do: those of the system, which it loads, and these of the
/// profile.
pub(super) fn connector(own: &[CertificateDer<'static>]) -> Option<TlsConnector> {
    trusting(own).map(TlsConnector::from)
}

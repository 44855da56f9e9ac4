//! A TLS handshake on its own, as the client makes it, so that it can be timed apart from the connection and the answer.

use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    rustls::pki_types::{CertificateDer, ServerName},
};

use super::tls::trusting;

/// Shakes hands over this connection and closes it; the version in words. `None`: it failed, and a whole request will say
/// better why.
pub(super) async fn shake(
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

/// It trusts whom the requests trust: the authorities of the system, which it reads, and these of the profile.
pub(super) fn connector(own: &[CertificateDer<'static>]) -> Option<TlsConnector> {
    trusting(own).map(TlsConnector::from)
}

//! Secure connections: the certificate authorities that a profile names in addition to those of the system, and why a
//! connection was not made. Every reason comes with advice.

use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
    sync::Arc,
};

use rustix::fs::OFlags;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, Error, InvalidMessage, PeerIncompatible,
    RootCertStore,
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::{CertifiedKey, SingleCertAndKey},
};

use rustls_platform_verifier::Verifier;
use zeroize::Zeroizing;

use super::answer::error_message::Scrub;
use crate::intake::pem;

/// All certificate authorities of a system take a quarter of this.
const LARGEST_FILE: u64 = 1024 * 1024;

/// Why a server was not trusted. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    #[error("its certificate is not signed by a trusted CA")]
    UnknownAuthority {
        /// Whether the profile already names its own certificate authorities.
        own: bool,
    },
    #[error("its certificate is for another name")]
    OtherName,
    #[error("its certificate has expired")]
    Expired,
    #[error("its certificate is not valid yet")]
    NotYetValid,
    #[error("it is a CA certificate, not a server certificate")]
    AuthorityItself,
    #[error("it supports only TLS versions older than 1.2")]
    OldProtocol,
    #[error("it does not speak TLS")]
    NoTls,
    #[error("it requires a client certificate")]
    ClientCertificate,
    /// For this, or because both have no cipher in common.
    #[error("it refused the handshake, as a service does that requires a client certificate")]
    Handshake,
    #[error("{0}")]
    Other(String),
}

impl TlsError {
    /// `own`: whether the profile names its own certificate authorities. The text of the error may come from a
    /// stranger.
    pub(super) fn of(error: &io::Error, own: bool, scrub: &Scrub<'_>) -> Self {
        let other = || Self::Other(scrub.clean(&error.to_string()));
        let Some(error) = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<Error>())
        else {
            return other();
        };
        match error {
            Error::InvalidCertificate(certificate) => match certificate {
                // A bad signature means an authority with the same name but another key.
                CertificateError::UnknownIssuer | CertificateError::BadSignature => {
                    Self::UnknownAuthority { own }
                }
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => Self::OtherName,
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    Self::Expired
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    Self::NotYetValid
                }
                // The underlying cause is a type of a crate that is not a dependency here.
                CertificateError::Other(cause)
                    if cause.to_string().contains("CaUsedAsEndEntity") =>
                {
                    Self::AuthorityItself
                }
                _ => other(),
            },
            Error::PeerIncompatible(
                PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
            )
            | Error::AlertReceived(AlertDescription::ProtocolVersion)
            | Error::InvalidMessage(InvalidMessage::UnknownProtocolVersion) => Self::OldProtocol,
            Error::InvalidMessage(_) => Self::NoTls,
            Error::AlertReceived(
                AlertDescription::CertificateRequired
                | AlertDescription::NoCertificate
                | AlertDescription::BadCertificate,
            ) => Self::ClientCertificate,
            Error::AlertReceived(AlertDescription::HandshakeFailure) => Self::Handshake,
            _ => other(),
        }
    }

    /// What to do about it.
    pub fn next(&self) -> &'static str {
        match self {
            Self::UnknownAuthority { own: false } => {
                "if your own CA signed it, set its certificate (PEM) as `ca_file` in the profile; if not, the \
                 connection may be intercepted"
            }
            Self::UnknownAuthority { own: true } => {
                "the `ca_file` of the profile does not contain the CA that signed it; ask for the right CA certificate, and \
                 whether the connection is intercepted"
            }
            Self::OtherName => {
                "check `base_url`: the certificate must contain its host name; `ca_file` changes nothing about that"
            }
            Self::Expired => {
                "ask the administrator of the service to renew it, and check the clock of this machine; \
                 `ca_file` changes nothing about that"
            }
            Self::NotYetValid => "check the clock of this machine, then the certificate",
            Self::AuthorityItself => {
                "have a certificate issued for the name in `base_url`, and set this one as `ca_file` in the profile"
            }
            Self::OldProtocol => "the service must speak TLS 1.2 or 1.3; ask its administrator",
            Self::NoTls => {
                "check `base_url` and its port: a service without TLS needs http:// there, which is for this machine only"
            }
            Self::ClientCertificate | Self::Handshake => {
                "groupdesk cannot send a client certificate to a service: ask its administrator for an address that requires none, or \
                 set that of a local proxy that sends it as `base_url`"
            }
            Self::Other(_) => "check `base_url`, the certificate of the service and the clock",
        }
    }
}

/// The crypto provider of this process; reqwest uses the process's default as well.
pub(super) fn provider() -> Arc<CryptoProvider> {
    if CryptoProvider::get_default().is_none() {
        // Another thread may install the same provider first.
        drop(ring::default_provider().install_default());
    }
    let installed = CryptoProvider::get_default().map(Arc::clone);
    installed.unwrap_or_else(|| Arc::new(ring::default_provider()))
}

/// The TLS configuration for a server of one's own: its certificate must be for its name, and signed by an authority of
/// the system or one in this file. The error says what is wrong with the file.
pub fn client_config(own: Option<&Path>) -> Result<Arc<ClientConfig>, String> {
    let own = own.map(authorities).transpose()?.unwrap_or_default();
    let provider = provider();
    let verifier = Verifier::new_with_extra_roots(own, Arc::clone(&provider));
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let (Ok(verifier), Ok(config)) = (verifier, config) else {
        return Err("a certificate in it cannot be read; use another file".into());
    };
    let config = config.dangerous();
    let config = config.with_custom_certificate_verifier(Arc::new(verifier));
    Ok(Arc::new(config.with_no_client_auth()))
}

/// Adds a client certificate and its private key, each in a PEM file. The error says what is wrong with which.
pub fn with_certificate(
    config: &ClientConfig,
    certificate: &Path,
    key: &Path,
) -> Result<Arc<ClientConfig>, String> {
    let chain = authorities(certificate).map_err(|why| format!("cert: {why}"))?;
    let bytes = private(key).map_err(|why| format!("key: {why}"))?;
    let key = PrivateKeyDer::from_pem_slice(&pem::plain(&bytes))
        .map_err(|_| "key: it contains no unencrypted private key in PEM; to remove its passphrase: openssl pkey -in FILE -out NEW")?;
    let key = provider().key_provider.load_private_key(key);
    let key =
        key.map_err(|_| "key: its type is not supported; create an RSA, ECDSA or Ed25519 key")?;
    let known = CertifiedKey::new(chain, key);
    known.keys_match().map_err(|error| match error {
        Error::InconsistentKeys(_) => {
            "cert and key do not match; use a matching pair, its certificate first in the file"
                .into()
        }
        other => format!("cert: {}", pem::unusable(other.to_string())),
    })?;
    let mut config = config.clone();
    config.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(known));
    Ok(Arc::new(config))
}

fn private(file: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let bytes = Zeroizing::new(contents(file)?);
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    match metadata.mode() & 0o077 {
        0 => Ok(bytes),
        _ => Err("others can read it; remove that permission with chmod 600".into()),
    }
}

/// The certificate authorities in a PEM file, at least one; or why the file cannot be used.
fn authorities(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let bytes = Zeroizing::new(contents(file)?);
    // The text may be whole and the certificate in it cut.
    let whole = |section: &[u8]| {
        let read = CertificateDer::from_pem_slice(section).ok()?;
        let is_whole = RootCertStore::empty().add(read.clone()).is_ok();
        is_whole.then_some(read)
    };
    match pem::read(&pem::plain(&bytes), whole)? {
        none if none.is_empty() => Err(pem::instead(&bytes).into()),
        certificates => Ok(certificates),
    }
}

fn contents(file: &Path) -> Result<Vec<u8>, String> {
    let words = |error: io::Error| error.to_string();
    let file = File::options()
        .read(true)
        // A FIFO must not block before it is refused.
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(file)
        .map_err(words)?;
    let metadata = file.metadata().map_err(words)?;
    if !metadata.is_file() {
        return Err("it is not a regular file; use another".into());
    }
    // Whoever can write to this file decides whom the API key is sent to.
    if metadata.mode() & 0o002 != 0 {
        return Err("every user can write to it; remove that permission with chmod o-w".into());
    }
    let mut bytes = Vec::new();
    let mut file = file.take(LARGEST_FILE + 1);
    file.read_to_end(&mut bytes).map_err(words)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err("it is larger than 1 MiB; use another".into());
    }
    Ok(bytes)
}

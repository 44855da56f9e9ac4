//! The address of a profile, validated before a key is sent to it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;

use crate::config::profile::Profile;

use super::failure::ClientError;

/// Where requests of a profile are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub url: Url,
    /// Host, with the port unless it is the default; the form that people see.
    pub host: String,
    pub loopback: bool,
}

impl Address {
    /// Refuses addresses that would send the key to the wrong place: user names and passwords in the address, a path
    /// that continues the host name, plain HTTP to other machines.
    pub fn of(profile: &Profile) -> Result<Self, ClientError> {
        let name = || profile.name.clone();
        if !profile.path.starts_with('/') {
            return Err(ClientError::Path(name()));
        }
        let base = Url::parse(&profile.base_url).map_err(|_| ClientError::NotAnAddress(name()))?;
        let url = Url::parse(&profile.url()).map_err(|_| ClientError::NotAnAddress(name()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(ClientError::Scheme(name()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ClientError::UserInfo(name()));
        }
        if base.query().is_some() || base.fragment().is_some() || url.fragment().is_some() {
            return Err(ClientError::Query(name()));
        }
        let host = url
            .host_str()
            .ok_or_else(|| ClientError::NotAnAddress(name()))?;
        let host = url
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let loopback = is_loopback(&url);
        if url.scheme() == "http" && !loopback && !profile.allow_plain_http {
            return Err(ClientError::PlainHttp {
                profile: name(),
                host,
            });
        }
        Ok(Self {
            url,
            host,
            loopback,
        })
    }

    /// Host and port to connect to.
    pub fn host_and_port(&self) -> (&str, u16) {
        let host = self.url.host_str().unwrap_or_default();
        (host, self.url.port_or_known_default().unwrap_or(443))
    }

    /// The loopback addresses for a name that is used unencrypted on this machine, whatever DNS says about it.
    pub fn pinned(&self, port: u16) -> Option<[SocketAddr; 2]> {
        let pinned = self.loopback && self.url.scheme() == "http" && self.url.domain().is_some();
        pinned.then(|| {
            [
                (Ipv4Addr::LOCALHOST, port).into(),
                (Ipv6Addr::LOCALHOST, port).into(),
            ]
        })
    }
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(ip) => ip.to_canonical().is_loopback(),
        Err(_) => bare == "localhost" || bare.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::config::profile::KeySource;

    fn profile(base_url: &str, path: &str) -> Profile {
        Profile {
            path: path.into(),
            ..Profile::new("eu", base_url, KeySource::Env("KEY".into()))
        }
    }

    #[test]
    fn a_good_address_is_taken_and_its_host_named() {
        let address = |base: &str| Address::of(&profile(base, "/api/user")).expect("good");
        assert_eq!(address("https://api.example.com").host, "api.example.com");
        let url = address("https://api.example.com/v2/").url;
        assert_eq!(url.as_str(), "https://api.example.com/v2/api/user");
        for loopback in ["127.0.0.1:8474", "[::1]:8474", "localhost", "127.9.9.9"] {
            assert!(
                address(&format!("http://{loopback}")).loopback,
                "{loopback}"
            );
        }
    }

    #[test]
    fn an_international_host_is_looked_up_in_its_ascii_form() {
        let host = |base| Address::of(&profile(base, "/api/user")).map(|address| address.host);
        for (base, ascii) in [
            (
                "https://B\u{fc}cher.Stra\u{df}e.example",
                "xn--bcher-kva.xn--strae-oqa.example",
            ),
            ("https://bu\u{308}cher.example", "xn--bcher-kva.example"),
            ("https://\u{6771}\u{4eac}.example", "xn--1lqs71d.example"),
            ("https://ａｐｉ.example", "api.example"),
        ] {
            assert_eq!(host(base).as_deref(), Ok(ascii), "{base}");
        }
        // Digits of one direction and letters of the other; a label that decodes to nothing.
        for base in ["https://\u{5d0}1\u{661}.example", "https://xn--a.example"] {
            assert!(host(base).is_err(), "{base}");
        }
    }

    #[test]
    fn an_address_that_would_lead_the_key_astray_is_refused_without_quoting_it() {
        use ClientError::{NotAnAddress, Path, PlainHttp, Query, Scheme, UserInfo};
        let refused = |base, path| {
            let error = Address::of(&profile(base, path)).expect_err("refused");
            assert!(!error.to_string().contains("canary"), "{error}");
            error
        };
        let eu = || "eu".to_owned();
        assert_eq!(refused("nonsense canary", "/"), NotAnAddress(eu()));
        assert_eq!(refused("ftp://example.com", "/"), Scheme(eu()));
        assert_eq!(refused("https://u:canary@example.com", "/"), UserInfo(eu()));
        assert_eq!(refused("https://example.com?k=canary", "/"), Query(eu()));
        assert_eq!(refused("https://example.com", ".evil.example/"), Path(eu()));
        assert_eq!(refused("https://example.com", "@evil.example/"), Path(eu()));
        for plain in ["http://10.0.0.1", "http://localhost.example.com"] {
            assert!(matches!(refused(plain, "/"), PlainHttp { .. }), "{plain}");
        }
        let allowed = Profile {
            allow_plain_http: true,
            ..profile("http://10.0.0.1", "/")
        };
        assert!(Address::of(&allowed).is_ok());
    }
}

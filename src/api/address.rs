//! The address of a profile, validated before a key is sent to it.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;

use crate::config::{
    address::{InvalidAddress, base_url, is_loopback, path},
    profile::Profile,
};

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
        let wrong = |setting| {
            let name = &profile.name;
            move |why: InvalidAddress| {
                ClientError::Unusable(format!("`{setting}` of profile {name} {why}"))
            }
        };
        let base = base_url(&profile.base_url, profile.allow_plain_http);
        let base = base.map_err(wrong("base_url"))?;
        let path = path(&profile.path).map_err(wrong("path"))?;
        let url = Url::parse(&(base + &path)).map_err(|_| InvalidAddress::NotAUrl);
        let url = url.map_err(wrong("base_url"))?;
        let host = url.host_str().unwrap_or_default();
        let host = url
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        Ok(Self {
            host,
            loopback: is_loopback(&url),
            url,
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
    fn an_address_that_would_lead_the_key_astray_is_refused_with_its_setting() {
        let refused = |base, path| Address::of(&profile(base, path));
        let wrong = |setting: &str, why: InvalidAddress| {
            Err(ClientError::Unusable(format!(
                "`{setting}` of profile eu {why}"
            )))
        };
        let with_password = refused("https://u:canary@example.com", "/");
        assert_eq!(
            with_password,
            wrong("base_url", InvalidAddress::Credentials)
        );
        let plain = refused("http://10.0.0.1", "/");
        assert_eq!(plain, wrong("base_url", InvalidAddress::PlainHttp));
        let longer = refused("https://example.com", ".evil.example/");
        assert_eq!(longer, wrong("path", InvalidAddress::PathWithoutSlash));
    }
}

//! The proxy that the environment names for a URL: read here, so that a variable that cannot be understood is refused
//! and a failure names the proxy and its variable. An address of a proxy may contain a password, which is never shown.

use std::{fmt, net::IpAddr};

use url::Url;
use zeroize::Zeroizing;

/// Variables for a scheme, in order of precedence.
pub const HTTPS: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
pub const HTTP: [&str; 4] = ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];
/// Hosts that are reached without one.
pub const NONE: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// A proxy, and the variable that names it.
#[derive(Clone)]
pub struct Proxy {
    pub variable: &'static str,
    /// Host and port.
    pub address: String,
    pub is_encrypted: bool,
    pub login: Option<Login>,
}

/// User and password.
#[derive(Clone)]
pub struct Login {
    pub user: Zeroizing<String>,
    pub password: Zeroizing<String>,
}

/// Why the variable names no proxy that can be used. Quotes nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongProxy {
    pub variable: &'static str,
    pub why: &'static str,
}

/// Without the login.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({} of {})", self.address, self.variable)
    }
}

impl Proxy {
    /// The proxy for a host and a scheme, by these variables. An empty variable counts as not set.
    pub fn of(
        scheme: &str,
        host: &str,
        port: u16,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, WrongProxy> {
        let set = |name: &&str| variable(name).filter(|value| !value.trim().is_empty());
        let names = if scheme == "https" { &HTTPS } else { &HTTP };
        let named = names
            .iter()
            .find_map(|name| Some((*name, Zeroizing::new(set(name)?))));
        let Some((name, value)) = named else {
            return Ok(None);
        };
        let without = NONE.iter().find_map(set);
        if without.is_some_and(|list| is_excluded(&list, host, port)) {
            return Ok(None);
        }
        Self::parse(name, &value).map(Some)
    }

    /// Its address and its variable, for messages.
    pub fn named(&self) -> String {
        format!("{} ({})", self.address, self.variable)
    }

    fn parse(variable: &'static str, value: &str) -> Result<Self, WrongProxy> {
        let wrong = |why| WrongProxy { variable, why };
        let value = super::text::trimmed(value);
        let (scheme, rest) = value.split_once("://").unwrap_or(("http", value));
        let is_encrypted = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            "socks" | "socks4" | "socks4a" | "socks5" | "socks5h" => {
                return Err(wrong(
                    "names a SOCKS proxy, which is not supported; write an HTTP proxy, such as http://proxy.example:3128",
                ));
            }
            _ => return Err(wrong(EXAMPLE)),
        };
        // A password may contain an @ and a slash; what follows the last @ is the host.
        let (login, host) = match rest.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, rest),
        };
        let host = host.split(['/', '?', '#']).next().unwrap_or_default();
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !name.ends_with(':') && !port.ends_with(']') => {
                let port: Option<u16> = port.parse().ok().filter(|port| *port > 0);
                (name, port.ok_or_else(|| wrong(EXAMPLE))?)
            }
            _ => (host, if is_encrypted { 443 } else { 80 }),
        };
        let is_name = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-._:[]".contains(c));
        let address = format!("{name}:{port}");
        // What the HTTP client would not take is refused here, where the variable is known.
        if !is_name || Url::parse(&format!("http://{address}")).is_err() {
            return Err(wrong(EXAMPLE));
        }
        let login = login.map(|login| {
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            Login {
                user: decoded(user),
                password: decoded(password),
            }
        });
        Ok(Self {
            variable,
            address,
            is_encrypted,
            login,
        })
    }
}

const EXAMPLE: &str = "is not the address of a proxy; write for example http://proxy.example:3128";

/// `%40` is `@`. What is no such sequence stays.
fn decoded(text: &str) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digit = |at: usize| char::from(*after.get(at)?).to_digit(16);
        if *first == b'%'
            && let (Some(high), Some(low)) = (digit(0), digit(1))
        {
            bytes.push((high * 16 + low) as u8);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Zeroizing::new(std::str::from_utf8(&bytes).unwrap_or(text).to_owned())
}

/// Whether a list such as `localhost,.example.com,10.0.0.0/8` names this host.
fn is_excluded(list: &str, host: &str, port: u16) -> bool {
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    let ip = host.parse::<IpAddr>().ok();
    let mut entries = list
        .split([',', ' '])
        .map(str::trim)
        .filter(|entry| !entry.is_empty());
    entries.any(|entry| {
        let entry = entry.to_ascii_lowercase();
        if entry == "*" {
            return true;
        }
        if let Some(ip) = ip {
            return is_within(&entry, ip);
        }
        let entry = match entry.rsplit_once(':') {
            Some((name, of)) if of.parse() == Ok(port) => name,
            Some((_, of)) if of.parse::<u16>().is_ok() => return false,
            _ => &entry,
        };
        let name = entry.trim_start_matches('*').trim_start_matches('.');
        host == name
            || host
                .strip_suffix(name)
                .is_some_and(|before| before.ends_with('.'))
    })
}

/// Whether an address is this one, or in this network.
fn is_within(entry: &str, ip: IpAddr) -> bool {
    let (network, bits) = match entry.split_once('/') {
        Some((network, bits)) => (network, bits.parse::<u32>().ok()),
        None => (entry, Some(128)),
    };
    let (Ok(network), Some(bits)) = (network.trim_matches(['[', ']']).parse::<IpAddr>(), bits)
    else {
        return false;
    };
    let (network, ip, length) = match (network, ip) {
        (IpAddr::V4(network), IpAddr::V4(ip)) => {
            (u128::from(network.to_bits()), ip.to_bits().into(), 32)
        }
        (IpAddr::V6(network), IpAddr::V6(ip)) => (network.to_bits(), ip.to_bits(), 128),
        _ => return false,
    };
    let shift = length - bits.min(length);
    let head = |ip: u128| ip.checked_shr(shift).unwrap_or_default();
    head(network) == head(ip)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        variables: &[(&str, &str)],
        scheme: &str,
        host: &str,
    ) -> Result<Option<Proxy>, WrongProxy> {
        Proxy::of(scheme, host, 443, |name| {
            let mut named = variables.iter().filter(|(known, _)| *known == name);
            named.next().map(|(_, value)| (*value).to_owned())
        })
    }

    fn one(variables: &[(&str, &str)], scheme: &str) -> Proxy {
        found(variables, scheme, "x").expect("right").expect("one")
    }

    #[test]
    fn the_variable_of_the_scheme_comes_before_that_for_all() {
        let variables = [
            ("ALL_PROXY", "http://all:1"),
            ("https_proxy", "proxy.example:3128"),
        ];
        let proxy = one(&variables, "https");
        assert_eq!(proxy.variable, "https_proxy");
        assert_eq!(proxy.address, "proxy.example:3128");
        assert_eq!(one(&variables, "http").variable, "ALL_PROXY");
        assert!(found(&[("HTTPS_PROXY", " ")], "https", "x").is_ok_and(|found| found.is_none()));
    }

    #[test]
    fn a_login_may_contain_any_sign() {
        for (value, user, password) in [
            ("http://ana:p@ss/w:rd@proxy:3128", "ana", "p@ss/w:rd"),
            ("http://ana:p%40ss%2@proxy:3128/", "ana", "p@ss%2"),
            ("ana@proxy:3128", "ana", ""),
        ] {
            let proxy = one(&[("HTTPS_PROXY", value)], "https");
            let login = proxy.login.expect("a login");
            assert_eq!(proxy.address, "proxy:3128");
            assert_eq!(
                (login.user.as_str(), login.password.as_str()),
                (user, password)
            );
        }
    }

    #[test]
    fn what_names_no_proxy_is_refused_without_repeating_it() {
        for value in [
            "socks5://canary:1",
            "http://",
            "http://ca nary:1",
            "proxy:canary",
            "ftp://canary",
            "://canary",
            "http://proxy:0",
            "proxy:99999",
            // These were named only by the HTTP client, without the variable.
            "::canary",
            "http://[::1",
            "canary:8080:1",
            "1.2.3.4.5:80",
        ] {
            let wrong = found(&[("HTTPS_PROXY", value)], "https", "x").expect_err(value);
            assert_eq!(wrong.variable, "HTTPS_PROXY");
            assert!(!wrong.why.contains("canary"), "{}", wrong.why);
        }
    }

    #[test]
    fn hosts_are_excluded_by_name_suffix_and_network() {
        for (list, host, is_without) in [
            ("api.example.com", "api.example.com", true),
            (".example.com", "api.example.com", true),
            ("*.example.com, x", "api.example.com", true),
            ("example.com", "api.example.com", true),
            ("ple.com", "api.example.com", false),
            ("api.example.com:443", "api.example.com", true),
            ("api.example.com:80", "api.example.com", false),
            ("*", "api.example.com", true),
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("0.0.0.0/0", "11.1.2.3", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("fd00::/8", "[fd01::1]", true),
        ] {
            let variables = [("HTTPS_PROXY", "http://proxy:1"), ("no_proxy", list)];
            let proxy = found(&variables, "https", host).expect("right");
            assert_eq!(proxy.is_none(), is_without, "{list} {host}");
        }
    }
}

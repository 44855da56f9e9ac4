//! Admission: everything that is checked before a byte of the body is read. Callers without a key take up no request
//! slot: they are refused without a lookup, and unknown keys are looked up only a few at a time.

use std::{
    net::Ipv6Addr,
    num::NonZeroU32,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderValue, Method, header, request::Parts};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{
    keys::{self, Caller, KeyLabel},
    rates::Rates,
    refusal::Refusal,
    secret,
    store::{Access, Store},
};

/// Path of the OpenAPI description of the interface.
pub(super) const DESCRIPTION_PATH: &str = "/openapi.json";

/// This fraction of the slots may be used by callers whose key is being looked up.
const LOOKUP_FRACTION: usize = 8;
/// How long a caller waits to be looked up; as long as the storage waits for another process.
const LOOKUP_TIME: Duration = Duration::from_secs(5);

/// The slots for requests in progress, and for key lookups.
#[derive(Clone)]
pub(super) struct RequestSlots {
    slots: Arc<Semaphore>,
    lookups: Arc<Semaphore>,
    rates: Option<Arc<Rates>>,
}

/// An admitted request. It holds its slot as long as this lives.
pub(super) struct RequestSlot {
    pub(super) key: KeyLabel,
    pub(super) caller: Caller,
    _slot: OwnedSemaphorePermit,
}

impl RequestSlots {
    pub(super) fn new(slots: Arc<Semaphore>, rate: Option<NonZeroU32>) -> Self {
        let lookups = (slots.available_permits() / LOOKUP_FRACTION).max(1);
        Self {
            slots,
            lookups: Arc::new(Semaphore::new(lookups)),
            rates: rate.map(|rate| Arc::new(Rates::new(rate))),
        }
    }

    pub(super) async fn admit(&self, store: &Store, parts: &Parts) -> Result<RequestSlot, Refusal> {
        if ![Method::GET, Method::PUT, Method::POST].contains(&parts.method) {
            return Err(Refusal::Method);
        }
        let key = presented_key(&parts.headers).ok_or(Refusal::Unauthorized)?;
        if self.slots.available_permits() == 0 {
            return Err(Refusal::Overloaded);
        }
        let lookups = timeout(LOOKUP_TIME, self.lookups.acquire()).await;
        let _lookup = lookups
            .ok()
            .and_then(Result::ok)
            .ok_or(Refusal::Overloaded)?;
        let slot = Arc::clone(&self.slots).try_acquire_owned();
        let slot = slot.map_err(|_| Refusal::Overloaded)?;
        let (key, caller) = authenticate(store, key).await?;
        if let Some(rates) = &self.rates {
            rates
                .take(key.number, Instant::now())
                .map_err(Refusal::too_many)?;
        }
        Ok(RequestSlot {
            key,
            caller,
            _slot: slot,
        })
    }
}

async fn authenticate(store: &Store, key: &[u8]) -> Result<(KeyLabel, Caller), Refusal> {
    let presented = secret::hash(key);
    let recognised = store
        .execute(Access::Short, move |tx| keys::recognise(tx, &presented))
        .await?;
    recognised.ok_or(Refusal::Unauthorized)
}

/// The key of `Authorization: Token <KEY>`; the scheme is case-insensitive.
fn presented_key(headers: &HeaderMap) -> Option<&[u8]> {
    let value = single_value(headers, &header::AUTHORIZATION)?;
    let value = value.as_bytes().trim_ascii();
    let space = value.iter().position(u8::is_ascii_whitespace)?;
    let (scheme, key) = value.split_at(space);
    scheme
        .eq_ignore_ascii_case(b"token")
        .then(|| key.trim_ascii())
}

/// The host names that requests may be addressed to; if empty, any.
pub(super) type Hosts = Arc<[String]>;

/// Requires exactly one `Host`: a name or an address with an optional port, and one of `hosts` unless that is empty.
pub(super) fn check_host(headers: &HeaderMap, hosts: &[String]) -> Result<(), Refusal> {
    let host = single_value(headers, &header::HOST).and_then(|value| value.to_str().ok());
    let host = host.filter(|host| is_host(host)).ok_or(Refusal::Host)?;
    let (name, _) = split_port(host);
    let is_ours = |ours: &String| ours.eq_ignore_ascii_case(name);
    if hosts.is_empty() || hosts.iter().any(is_ours) {
        Ok(())
    } else {
        Err(Refusal::UnknownHost)
    }
}

/// Whether this is a name or an address as in `Host`, without a port.
pub fn is_host_name(text: &str) -> bool {
    is_host(text) && split_port(text) == (text, "")
}

/// Splits name and port.
fn split_port(text: &str) -> (&str, &str) {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (text, ""),
    }
}

fn is_host(text: &str) -> bool {
    let (host, port) = split_port(text);
    let is_port = port.is_empty()
        || port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_name = || {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(&byte);
        !host.is_empty() && host.bytes().all(plain)
    };
    is_port && address.map_or_else(is_name, |address| address.parse::<Ipv6Addr>().is_ok())
}

/// The value of a header that occurs exactly once.
fn single_value<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_what_follows_the_scheme() {
        let key = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                let value = HeaderValue::from_str(value).expect("a header");
                headers.append(header::AUTHORIZATION, value);
            }
            presented_key(&headers).map(|key| String::from_utf8_lossy(key).into_owned())
        };
        assert_eq!(key(&["Token abc"]).as_deref(), Some("abc"));
        assert_eq!(key(&["tOKEN   abc "]).as_deref(), Some("abc"));
        assert_eq!(key(&["Bearer abc"]), None);
        assert_eq!(key(&["Tokenabc"]), None);
        assert_eq!(key(&["abc"]), None);
        assert_eq!(key(&["Token abc", "Token abc"]), None);
        assert_eq!(key(&[]), None);
    }

    #[test]
    fn the_name_is_compared_without_port_and_case() {
        let ours = ["Api.example.com".to_owned(), "[::1]".to_owned()];
        let check = |host: &str, ours: &[String]| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
            check_host(&headers, ours)
        };
        for host in [
            "api.example.com",
            "API.EXAMPLE.COM:8474",
            "[::1]:1",
            "[::1]",
        ] {
            assert_eq!(check(host, &ours), Ok(()), "{host}");
        }
        for host in [
            "example.com",
            "api.example.com.evil.example",
            "127.0.0.1",
            "[::2]",
        ] {
            assert_eq!(check(host, &ours), Err(Refusal::UnknownHost), "{host}");
            assert_eq!(check(host, &[]), Ok(()), "{host}");
        }
        assert_eq!(check("a b", &ours), Err(Refusal::Host));
        assert!(is_host_name("api.example.com") && is_host_name("[::1]"));
        assert!(
            !is_host_name("api.example.com:80")
                && !is_host_name("a/b")
                && !is_host_name("localhost:")
        );
    }

    #[test]
    fn a_host_is_a_name_or_an_address_and_perhaps_a_port() {
        for good in [
            "x",
            "api.example.com",
            "127.0.0.1:8474",
            "localhost:",
            "[::1]",
            "[::1]:8474",
            "a_b.example.com",
            "a%20b",
        ] {
            assert!(is_host(good), "{good}");
        }
        for bad in [
            "",
            ":8474",
            "a b",
            "a/b",
            "user@host",
            "a:b",
            "a:+1",
            "a:65536",
            "a:1:2",
            "::1",
            "[::1",
            "[x]",
            "[]",
            "[::1]x",
            "a,b c",
            "http://a",
        ] {
            assert!(!is_host(bad), "{bad}");
        }
    }
}

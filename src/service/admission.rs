//! Admission: everything that is checked before a byte of the body is read. Callers without a key take up no request
//! slot: they are refused without a lookup, and unknown keys are looked up only a few at a time.

use std::{
    collections::HashMap,
    net::Ipv6Addr,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::http::{HeaderMap, HeaderValue, Method, header, request::Parts};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::{
    keys::{self, Caller, KeyLabel},
    refusal::Refusal,
    secret,
    store::{Access, Store},
};
use crate::db::Tx;

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
        let presented = secret::hash(key);
        let recognise = move |tx: &Tx<'_>| keys::recognise(tx, &presented);
        let recognised = store.execute(Access::Short, recognise).await?;
        let (key, caller) = recognised.ok_or(Refusal::Unauthorized)?;
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
pub(super) fn single_value<'a>(
    headers: &'a HeaderMap,
    name: &header::HeaderName,
) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

/// The requests of one second may come in one burst.
const SECOND: Duration = Duration::from_secs(1);

/// The rate limit per key, counted per process, and lost when it ends.
struct Rates {
    /// Interval between two requests at the limit.
    apart: Duration,
    /// By key: when all of its requests so far would be over at that interval.
    over: Mutex<HashMap<i64, Instant>>,
}

impl Rates {
    fn new(a_second: NonZeroU32) -> Self {
        Self {
            apart: SECOND / a_second.get(),
            over: Mutex::default(),
        }
    }

    /// Takes one request from the key's allowance; otherwise returns how long to wait.
    fn take(&self, key: i64, now: Instant) -> Result<(), Duration> {
        // Nothing panics while it holds the lock.
        let mut over = self.over.lock().unwrap_or_else(PoisonError::into_inner);
        let before = over.get(&key).copied().unwrap_or(now).max(now);
        let after = before + self.apart;
        let early = (after - now).saturating_sub(SECOND);
        if early.is_zero() {
            over.insert(key, after);
            Ok(())
        } else {
            Err(early)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_s_worth_may_come_at_once_and_then_one_after_another() {
        let rates = Rates::new(NonZeroU32::new(4).expect("not zero"));
        let start = Instant::now();
        for _ in 0..4 {
            assert_eq!(rates.take(1, start), Ok(()));
        }
        let wait = Duration::from_millis(250);
        assert_eq!(rates.take(1, start), Err(wait));
        assert_eq!(rates.take(2, start), Ok(()), "each key has its own");
        assert_eq!(
            rates.take(1, start),
            Err(wait),
            "what was refused costs nothing"
        );
        assert_eq!(rates.take(1, start + wait), Ok(()));
        assert!(rates.take(1, start + wait).is_err());
        let later = start + Duration::from_mins(1);
        for _ in 0..4 {
            assert_eq!(rates.take(1, later), Ok(()));
        }
        assert!(
            rates.take(1, later).is_err(),
            "what was not used is not saved up"
        );
    }

    #[test]
    fn the_key_is_what_follows_the_scheme() {
        for (values, key) in [
            (&["Token abc"][..], Some("abc")),
            (&["tOKEN   abc "], Some("abc")),
            (&["Bearer abc"], None),
            (&["Tokenabc"], None),
            (&["abc"], None),
            (&["Token abc", "Token abc"], None),
            (&[], None),
        ] {
            let mut headers = HeaderMap::new();
            for value in values {
                let value = HeaderValue::from_str(value).expect("a header");
                headers.append(header::AUTHORIZATION, value);
            }
            assert_eq!(
                presented_key(&headers),
                key.map(str::as_bytes),
                "{values:?}"
            );
        }
    }

    #[test]
    fn the_name_is_compared_without_port_and_case() {
        let ours = ["Api.example.com".to_owned(), "[::1]".to_owned()];
        let check = |host: &str, ours: &[String]| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_str(host).expect("a header"));
            check_host(&headers, ours)
        };
        for host in "api.example.com|API.EXAMPLE.COM:8474|[::1]:1|[::1]".split('|') {
            assert_eq!(check(host, &ours), Ok(()), "{host}");
        }
        for host in "example.com|api.example.com.evil.example|127.0.0.1|[::2]".split('|') {
            assert_eq!(check(host, &ours), Err(Refusal::UnknownHost), "{host}");
            assert_eq!(check(host, &[]), Ok(()), "{host}");
        }
        assert_eq!(check("a b", &ours), Err(Refusal::Host));
        assert!(is_host_name("api.example.com") && is_host_name("[::1]"));
        for other in ["api.example.com:80", "a/b", "localhost:"] {
            assert!(!is_host_name(other), "{other}");
        }
    }

    #[test]
    fn a_host_is_a_name_or_an_address_and_perhaps_a_port() {
        let good =
            "x|api.example.com|127.0.0.1:8474|localhost:|[::1]|[::1]:8474|a_b.example.com|a%20b";
        for good in good.split('|') {
            assert!(is_host(good), "{good}");
        }
        let bad =
            "|:8474|a b|a/b|user@host|a:b|a:+1|a:65536|a:1:2|::1|[::1|[x]|[]|[::1]x|a,b c|http://a";
        for bad in bad.split('|') {
            assert!(!is_host(bad), "{bad}");
        }
    }
}

//! Judges an answer (hazard 9 of docs/design/service.md): success, refusal, or unclear and why. Pure: bytes in, verdict
//! out. Tolerant where a field does not matter, and strict where it does: `success`, the token, the id.

pub mod ambiguous;
pub mod error_message;
pub mod rotation;
mod success;

use std::{mem, time::Duration};

use serde_json::{Map, Value};

use crate::{
    domain::{
        group::{EnvironmentTag, Properties, UserGroupId},
        token::Token,
    },
    formats::strict_json::JsonError,
};

use super::{body::parse, proxied::PROXY_LOGIN, zeroizing::ParsedAnswer};
use ambiguous::{Ambiguous, AmbiguousKind};
use error_message::{ErrorMessage, Scrub};
use success::{Success, flag, success};

/// What the request asked for, so that an answer about something else is detected.
#[derive(Debug, Clone, Copy)]
pub enum Expected<'a> {
    /// Get-or-create or update of this group.
    Group(&'a UserGroupId),
    /// Rotation of the token `old`, of the group `expected` if it is known.
    Rotation {
        expected: Option<&'a UserGroupId>,
        old: &'a Token,
    },
}

/// A user group as described in an answer. `None` if the field was absent, null, or of an unusable type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The id of the request; `None` only for a rotation without an expected id, if the answer contains none.
    pub provided_id: Option<UserGroupId>,
    pub token: Token,
    pub team_id: Option<i64>,
    pub name: Option<String>,
    pub properties: Option<Properties>,
    pub environment_tag: Option<EnvironmentTag>,
    pub new_user_group: Option<bool>,
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Success(Group),
    /// A rotation that reports success, but whose token is the old one.
    SameToken(Group),
    /// The call was refused.
    Refused {
        status: u16,
        /// The service itself stated this in JSON; otherwise it may have been a proxy.
        stated: bool,
        /// The proxy that may have answered in its place.
        via: Option<String>,
        code: Option<String>,
        /// The service's own words: cleaned, at most 300 characters.
        words: Option<String>,
        retry_after: Option<Duration>,
    },
    Unclear(Ambiguous),
}

impl Verdict {
    /// What happened, without advice; `None` for a success.
    pub fn what(&self) -> Option<String> {
        match self {
            Self::Success(_) => None,
            Self::SameToken(_) => {
                Some("the service reports success but returned the old token".to_owned())
            }
            Self::Refused {
                status,
                stated,
                code,
                words,
                via,
                ..
            } => {
                let who = who_refused(*stated, via.as_deref());
                let part = |before: &str, text: Option<&String>| {
                    text.map_or_else(String::new, |text| format!("{before}{text}"))
                };
                let (code, words) = (part(", ", code.as_ref()), part(": ", words.as_ref()));
                Some(format!("{who} refused (HTTP {status}{code}){words}"))
            }
            Self::Unclear(unclear) => Some(unclear.what()),
        }
    }

    /// What happened and what to do next; `None` for a success.
    pub fn explain(&self) -> Option<String> {
        let what = self.what()?;
        Some(match self {
            Self::Success(_) => what,
            Self::SameToken(_) => format!(
                "{what}: apparently nothing was rotated; read the group, and ask the administrator of the service"
            ),
            Self::Refused {
                status,
                stated,
                retry_after,
                ..
            } => format!("{what}; {}", advice(*status, *stated, *retry_after)),
            Self::Unclear(unclear) => unclear.to_string(),
        })
    }
}

/// Who refused: over plain HTTP the answer of a proxy cannot be told from that of the service.
pub fn who_refused(stated: bool, via: Option<&str>) -> String {
    match (stated, via) {
        (true, _) => "the service".into(),
        (false, Some(proxy)) => format!("the service or the proxy {proxy}"),
        (false, None) => "the service or a proxy".into(),
    }
}

/// What to do about a refusal.
pub fn advice(status: u16, stated: bool, retry_after: Option<Duration>) -> String {
    match status {
        401 => "check the profile's `api_key`: it is missing, wrong or revoked".into(),
        400 | 403 | 409 | 422 if !stated => {
            "a proxy or a firewall may be in between: check the profile's `base_url` and `path`, \
             and ask the network administrator"
                .into()
        }
        403 => "this API key may not do that; use a read-write key of this environment".into(),
        404 if !stated => "check the profile's `base_url` and `path`".into(),
        404 => "check the profile's `path` and `base_url`, then the group: this environment does not know it".into(),
        405 | 415 => "check the profile's `path`, and whether a proxy changes requests".into(),
        407 => format!("a proxy requires a password: with `proxy_from_environment`, {PROXY_LOGIN}"),
        409 => "read the group again, then decide: it conflicts with what the service has".into(),
        413 => "send less: make the properties or the mapping smaller".into(),
        429 | 503 => match retry_after {
            Some(wait) => format!("wait {} s, then try again", wait.as_secs()),
            None => "wait a while, then try again".into(),
        },
        400 | 422 => "fix what it reports, then send it again".into(),
        _ => "read the group before trying again".into(),
    }
}

/// The parts of an answer that are judged.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<'a> {
    pub status: u16,
    /// The address that the request was sent to.
    pub url: &'a str,
    pub content_type: Option<&'a str>,
    pub location: Option<&'a str>,
    pub retry_after: Option<Duration>,
    /// groupdesk's own service states that it did nothing: then a 503 is a refusal, except for a rotation.
    pub not_done: bool,
    /// The proxy through which plain HTTP goes, and its variable.
    pub via: Option<&'a str>,
    /// The whole body, decompressed.
    pub body: &'a [u8],
}

/// Success = 2xx ∧ JSON ∧ `success` is 1 ∧ a `user_group` with a token ∧ the id that was asked.
///
/// `scrub` knows what must not come back out in any text, in the first place the API key; the old token of a rotation
/// and the token of the answer are hidden anyway.
pub fn judge(exchange: &Exchange<'_>, asked: &Expected<'_>, scrub: Scrub<'_>) -> Verdict {
    // A shorter lifetime: secrets of the request and of the answer are added.
    let mut scrub = scrub;
    if let Expected::Rotation { old, .. } = asked {
        scrub.add(old.expose());
    }
    let status = exchange.status;
    let unclear = |kind| exchange.unclear(kind);
    if (300..400).contains(&status) {
        return unclear(ambiguous::redirect(exchange.url, exchange.location, &scrub));
    }
    let mut body = parse(exchange.content_type, exchange.body);
    let answer = body.as_deref().ok();
    let object = answer.and_then(Value::as_object);
    if let Some(token) = answer.and_then(|answer| answer["user_group"]["token"].as_str()) {
        scrub.add(token);
    }
    let said = answer.map(|answer| ErrorMessage::of(answer, &scrub));
    let said = said.unwrap_or_default();
    let mut verdict = match status {
        200..300 => match &body {
            Ok(body) => judge_success(exchange, body, asked, &scrub, said),
            Err(kind) => unclear(kind.clone()),
        },
        400..500 => {
            // Such a body may say both yes and no.
            if let Err(kind @ AmbiguousKind::Json(wrong)) = &body
                && !matches!(wrong, JsonError::NotJson { .. })
            {
                return unclear(kind.clone());
            }
            if object.is_some_and(|map| success(map) == Success::Yes) {
                unclear(AmbiguousKind::SuccessDenied)
            } else {
                exchange.refused(object.is_some() && states_refusal(status), said)
            }
        }
        503 if exchange.not_done
            && matches!(asked, Expected::Group(_))
            && object.is_some_and(|map| success(map) == Success::No) =>
        {
            exchange.refused(true, said)
        }
        500..600 => unclear(AmbiguousKind::ServerError {
            words: said.words,
            retry_after: exchange.retry_after,
        }),
        _ => unclear(AmbiguousKind::OddStatus),
    };
    if let (Verdict::Success(group) | Verdict::SameToken(group), Ok(body)) =
        (&mut verdict, &mut body)
    {
        fill(group, body);
    }
    verdict
}

impl Exchange<'_> {
    fn unclear(&self, kind: AmbiguousKind) -> Verdict {
        Verdict::Unclear(Ambiguous {
            status: self.status,
            kind,
            via: self.via.map(str::to_owned),
        })
    }

    fn refused(&self, stated: bool, ErrorMessage { code, words }: ErrorMessage) -> Verdict {
        Verdict::Refused {
            status: self.status,
            stated,
            via: self.via.map(str::to_owned),
            code,
            words,
            retry_after: self.retry_after,
        }
    }
}

/// Large values are moved out of the answer, not copied.
fn fill(group: &mut Group, body: &mut ParsedAnswer) {
    let Some(map) = body.0.get_mut("user_group").and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(Value::String(name)) = map.get_mut("name") {
        group.name = Some(mem::take(name));
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        group.properties = Some(mem::take(properties));
    }
}

/// The statuses by which a service says that it did nothing. A 408 or a 410 may come from anywhere.
fn states_refusal(status: u16) -> bool {
    matches!(
        status,
        400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429
    )
}

fn judge_success(
    exchange: &Exchange<'_>,
    body: &Value,
    asked: &Expected<'_>,
    scrub: &Scrub<'_>,
    said: ErrorMessage,
) -> Verdict {
    let Some(map) = body.as_object() else {
        return exchange.unclear(AmbiguousKind::NotAnAnswer(said.words));
    };
    match success(map) {
        Success::Yes => {}
        Success::No => {
            let from_service = Exchange {
                via: None,
                retry_after: None,
                ..*exchange
            };
            return from_service.refused(true, said);
        }
        Success::Missing => {
            return exchange.unclear(AmbiguousKind::SuccessMissing(said.words));
        }
        Success::Odd(was) => return exchange.unclear(AmbiguousKind::SuccessOdd(was)),
    }
    match group(map, asked, scrub) {
        Ok(group) => match asked {
            Expected::Rotation { old, .. } if group.token == **old => Verdict::SameToken(group),
            _ => Verdict::Success(group),
        },
        Err(kind) => exchange.unclear(kind),
    }
}

/// The group without name and properties.
fn group(
    answer: &Map<String, Value>,
    asked: &Expected<'_>,
    scrub: &Scrub<'_>,
) -> Result<Group, AmbiguousKind> {
    let Some(map) = answer.get("user_group").and_then(Value::as_object) else {
        return Err(AmbiguousKind::NoGroup);
    };
    let given = map.get("provided_id").and_then(id_text);
    let (expected, rotation) = match asked {
        Expected::Group(id) => (Some(*id), false),
        Expected::Rotation { expected, .. } => (*expected, true),
    };
    let provided_id = match (expected, given) {
        (Some(asked), Some(given)) if asked.as_str() == given => Some(asked.clone()),
        (Some(asked), Some(given)) => {
            return Err(AmbiguousKind::OtherGroup {
                asked: scrub.clean(asked.as_str()),
                got: scrub.clean(&given),
                rotation,
            });
        }
        (Some(_), None) => return Err(AmbiguousKind::NoId),
        (None, given) => given.and_then(|given| UserGroupId::parse(given).ok()),
    };
    let token = map
        .get("token")
        .and_then(Value::as_str)
        .filter(|token| !token.trim().is_empty())
        .ok_or(AmbiguousKind::NoToken)?;
    let text = |key: &str| map.get(key).and_then(Value::as_str);
    Ok(Group {
        provided_id,
        token: Token::new(token.to_owned()),
        team_id: map.get("team_id").and_then(whole_number),
        name: None,
        properties: None,
        environment_tag: text("api_environment_tag")
            .filter(|tag| !tag.is_empty())
            .map(EnvironmentTag::parse),
        new_user_group: answer.get("new_user_group").and_then(|new| match new {
            Value::String(text) if text == "true" => Some(true),
            Value::String(text) if text == "false" => Some(false),
            other => flag(other),
        }),
    })
}

/// A service may turn the id "42" into the number 42; it is the same id.
fn id_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let float = number.as_f64()?;
            // Above 2^53 a float may not be the number that was meant.
            (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0).then_some(float as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

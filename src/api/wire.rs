//! The JSON of the interface (docs/design/service.md, "The interface"), pinned by the files in `tests/golden/`. Shared
//! by the client and the embedded service; it describes shapes and judges nothing.

use indexmap::IndexMap;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The path of the interface below the base URL.
pub const DEFAULT_PATH: &str = "/api/user";

/// Body of get-or-create and of update. A field that is `None` is left out of the JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub user_group_id: String,
    /// Schema id → data source id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<IndexMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub properties: Option<Map<String, Value>>,
}

/// Body of rotate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RotateRequest {
    pub current_token: WireToken,
}

/// A token, as it is sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WireToken(#[serde(serialize_with = "expose")] pub SecretString);

/// A field of an answer that may be absent, null or present; all three occur in answers of the real service.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Presence<T> {
    #[default]
    Absent,
    Null,
    Present(T),
}

impl<T> Presence<T> {
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<T> From<Option<T>> for Presence<T> {
    /// `None` becomes null, not absent.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Self::Present)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Presence<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::<T>::deserialize(deserializer).map(Self::from)
    }
}

/// An answer to any of the three operations. Unknown extra fields are ignored.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ResponseBody {
    /// Documented as a number, 1 or 0; `1.0`, `true` and `"1"` have been seen elsewhere.
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub success: Presence<Value>,
    /// Get-or-create only: whether this call created the group.
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub new_user_group: Presence<bool>,
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub user_group: Presence<UserGroup>,
    /// Undocumented; `{code, message}` in the embedded service, any shape elsewhere.
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub error: Presence<Value>,
}

/// `user_group` of an answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct UserGroup {
    /// The service's internal id of the group.
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub team_id: Presence<i64>,
    /// The user group token: a bearer secret.
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub token: Presence<WireToken>,
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub name: Presence<String>,
    /// The `user_group_id` of the request.
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub provided_id: Presence<String>,
    /// Only if the request contained some, otherwise null.
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub properties: Presence<Map<String, Value>>,
    /// Update and rotate only.
    #[serde(default, skip_serializing_if = "Presence::is_absent")]
    pub api_environment_tag: Presence<String>,
}

fn expose<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}

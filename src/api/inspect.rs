//! Requests in the form in which people review and copy them. Hidden characters are written as JSON escapes, which are
//! equivalent and visible. Credentials are left out.

use std::fmt::Write;

use crate::{config::profile::Profile, domain::text};

use super::{address::Address, failure::Call, wire::GroupRequest};

/// What is sent, as indented JSON.
pub fn request_json(request: &GroupRequest) -> String {
    escape_hidden(&serde_json::to_string_pretty(request).expect("strings and JSON serialise"))
}

/// The same request as a POSIX shell command. The API key is read from `$GROUPDESK_API_KEY` and passed to curl on its
/// standard input, because arguments are visible to every user of a machine.
pub fn as_curl(profile: &Profile, call: Call, request: &GroupRequest) -> String {
    let body = serde_json::to_string(request).expect("strings and JSON serialise");
    // A profile that cannot be called can still be reviewed, but its address may contain a password.
    let url = Address::of(profile).map_or_else(
        |_| "https://BASE_URL".to_owned(),
        |address| address.url.into(),
    );
    let proxied = profile.proxy_from_environment;
    curl_of(&url, call, proxied, &body)
}

/// A body as a POSIX shell command to this address.
pub fn curl_of(url: &str, call: Call, proxied: bool, body: &str) -> String {
    let mut command = format!(
        "printf 'Authorization: Token %s\\n' \"$GROUPDESK_API_KEY\" | curl --globoff --header @- \
         --header 'Content-Type: application/json' --header 'Accept: application/json' --request {}",
        call.method()
    );
    if !proxied {
        command.push_str(" --noproxy '*'");
    }
    command.push_str(" --data-raw ");
    command.push_str(&quoted(&escape_hidden(body)));
    command.push(' ');
    command.push_str(&quoted(url));
    command
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// In JSON, hidden characters can only occur inside strings, where an escape is equivalent.
pub fn escape_hidden(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && text::is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(shown, "\\u{unit:04x}").expect("a String takes it");
            }
        } else {
            shown.push(c);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::config::profile::KeySource;

    fn request() -> GroupRequest {
        GroupRequest {
            name: Some("O'Brien \u{202e}$(id) `id` \\ \"\n\u{7f}\u{e0041}!".into()),
            user_group_id: "a'b".into(),
            mapping: Some([("40".to_owned(), "213".to_owned())].into_iter().collect()),
            properties: None,
        }
    }

    fn profile() -> Profile {
        Profile {
            path: "/api/user'$(id)".into(),
            ..Profile::new(
                "eu",
                "https://api.example.com",
                KeySource::Env("OTHER".into()),
            )
        }
    }

    #[test]
    fn the_review_text_means_what_is_sent_and_hides_nothing() {
        let shown = request_json(&request());
        assert_eq!(
            serde_json::from_str::<GroupRequest>(&shown).expect("JSON"),
            request()
        );
        assert!(shown.contains("\\u202e") && shown.contains("\\u007f"));
        assert!(shown.contains("\\udb40\\udc41"), "{shown}");
        assert!(!shown.chars().any(|c| c != '\n' && text::is_hidden(c)));
    }

    #[test]
    fn only_a_profile_that_uses_a_proxy_lets_curl_use_one() {
        let direct = profile();
        let proxied = Profile {
            proxy_from_environment: true,
            ..profile()
        };
        for (profile, uses_proxy) in [(direct, false), (proxied, true)] {
            let command = as_curl(&profile, Call::Update, &request());
            assert_eq!(!command.contains("--noproxy '*'"), uses_proxy, "{command}");
        }
    }

    #[test]
    fn a_real_shell_hands_curl_exactly_the_request_and_no_key_in_an_argument() {
        let folder = tempfile::tempdir().expect("a folder");
        // A substitute for curl that writes its arguments and its standard input.
        let curl = "curl() { for a; do printf '%s\\037' \"$a\"; done > args; cat > input; }";
        let script = format!("{curl}\n{}", as_curl(&profile(), Call::Update, &request()));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).current_dir(folder.path());
        let status = shell.env("GROUPDESK_API_KEY", "canary").status();
        assert!(status.expect("sh runs").success());
        let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("written");
        assert_eq!(read("input"), "Authorization: Token canary\n");
        let args = read("args");
        let args: Vec<&str> = args.split_terminator('\u{1f}').collect();
        assert!(!args.iter().any(|arg| arg.contains("canary")));
        let body = args.iter().skip_while(|arg| **arg != "--data-raw").nth(1);
        let sent: GroupRequest = serde_json::from_str(body.expect("a body")).expect("JSON");
        assert_eq!(sent, request());
        let url = "https://api.example.com/api/user'$(id)";
        assert!(
            args.last() == Some(&url) && args.contains(&"PUT"),
            "{args:?}"
        );
        let profile = Profile {
            base_url: "https://u:canary@api.example.com".into(),
            ..profile()
        };
        assert!(!as_curl(&profile, Call::GetOrCreate, &request()).contains("canary"));
    }
}

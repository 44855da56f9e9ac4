//! The known ids nearest to a typed one, so that a mistyped id is noticed before it creates a group (hazard 1).

use super::{group::UserGroupId, text::skeleton};

/// At most `limit` known ids that a person may have meant, the most likely first. The id itself is not among them.
pub fn near<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a UserGroupId>,
    limit: usize,
) -> Vec<&'a UserGroupId> {
    let typed_length = typed.trim().chars().count();
    let wanted = skeleton(typed.trim());
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(usize, &UserGroupId)> = known
        .into_iter()
        .filter(|id| id.as_str() != typed)
        .filter_map(|id| Some((distance(&wanted, typed_length, id.as_str())?, id)))
        .collect();
    found.sort();
    found.truncate(limit);
    found.into_iter().map(|(_, id)| id).collect()
}

/// 0 looks the same; 1 contains or begins alike; from 2 the number of typing mistakes; `None` is too far away.
///
/// A skeleton can be longer than the text: an "m" counts as "rn". So the length of the text is given.
fn distance(wanted: &str, typed_length: usize, id: &str) -> Option<usize> {
    let candidate = skeleton(id);
    if candidate == wanted {
        return Some(0);
    }
    let length = wanted.chars().count();
    if typed_length >= 3 && (candidate.contains(wanted) || wanted.contains(&candidate)) {
        return Some(1);
    }
    // A difference in length alone already is that many mistakes.
    let allowed = (typed_length / 4).clamp(1, 4);
    if candidate.chars().count().abs_diff(length) > allowed {
        return None;
    }
    let mistakes = strsim::damerau_levenshtein(wanted, &candidate);
    (mistakes <= allowed).then_some(mistakes + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_come_first() {
        let known: Vec<_> = [
            "acme-eu",
            "acme-us",
            "\u{0430}cme-ue",
            "globex",
            "acme-eu-old",
        ]
        .into_iter()
        .map(|id| UserGroupId::parse(id).expect("a valid id"))
        .collect();
        let found = |typed| -> Vec<_> {
            near(typed, &known, 3)
                .into_iter()
                .map(UserGroupId::as_str)
                .collect()
        };
        assert_eq!(
            found("acme-ue"),
            ["\u{0430}cme-ue", "acme-eu", "acme-us"],
            "what looks the same, then one mistake each"
        );
        assert_eq!(found("acme-eu"), ["acme-eu-old", "\u{0430}cme-ue"]);
        assert_eq!(found("globx"), ["globex"]);
        assert!(found("zz").is_empty());
        assert!(found("").is_empty());
    }
}

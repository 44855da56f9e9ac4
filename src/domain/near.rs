//! The known ids nearest to a typed one, so that a mistyped id is noticed before it creates a group (hazard 1).

use super::{group::UserGroupId, text::skeleton};

/// At most `limit` known ids that a person may have meant, the most likely first. The id itself is not among them.
pub fn near<'a>(
    typed: &str,
    known: impl IntoIterator<Item = &'a UserGroupId>,
    limit: usize,
) -> Vec<&'a UserGroupId> {
    let wanted = Forms::of(typed.trim());
    if wanted.look.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(usize, &UserGroupId)> = known
        .into_iter()
        .filter(|id| id.as_str() != typed)
        .filter_map(|id| Some((distance(&wanted, &Forms::of(id.as_str()))?, id)))
        .collect();
    found.sort();
    found.truncate(limit);
    found.into_iter().map(|(_, id)| id).collect()
}

/// An id as it looks and as it is typed. They differ in length: an "m" looks like "rn", one mistake counts twice.
struct Forms {
    look: String,
    keys: String,
}

impl Forms {
    fn of(text: &str) -> Self {
        Self {
            look: skeleton(text),
            keys: text.to_lowercase(),
        }
    }
}

/// 0 looks the same; 1 contains or begins alike; from 2 the number of typing mistakes; `None` is too far away.
fn distance(wanted: &Forms, candidate: &Forms) -> Option<usize> {
    if candidate.look == wanted.look {
        return Some(0);
    }
    let length = wanted.keys.chars().count();
    // One or two letters are in everything.
    let contains = |whole: &Forms, part: &Forms| {
        part.look.chars().count() >= 3 && whole.look.contains(&part.look)
    };
    if contains(candidate, wanted) || contains(wanted, candidate) {
        return Some(1);
    }
    let allowed = (length / 4).clamp(1, 4);
    let looks = mistakes(&wanted.look, &candidate.look, allowed);
    let typed = mistakes(&wanted.keys, &candidate.keys, allowed);
    let fewest = looks.into_iter().chain(typed).min()?;
    Some(fewest + 1)
}

fn mistakes(one: &str, other: &str, allowed: usize) -> Option<usize> {
    // A difference in length alone already is that many mistakes.
    if one.chars().count().abs_diff(other.chars().count()) > allowed {
        return None;
    }
    let mistakes = strsim::damerau_levenshtein(one, other);
    (mistakes <= allowed).then_some(mistakes)
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
        assert_eq!(found("ace-us"), ["acme-us"], "a letter that looks like two");
        assert!(found("zz").is_empty());
        assert!(found("").is_empty());
    }
}

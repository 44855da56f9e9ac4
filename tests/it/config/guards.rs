//! Guard rules in the configuration file: which are accepted, and the errors about others.

use groupdesk::config::guard::{Level, Operation, Rule};

use super::{CANARY, Home, has_problem, problems, profile_and};

#[test]
fn each_guard_is_read_as_intended() {
    let guards = "guard = [\n  { operation = \"rotate\", level = \"type-phrase\", reason = \"two people look\" },\n  \
                  { operation = \"update\", forbid = true, reason = \"change freeze until Monday\" },\n  \
                  { operation = \"bulk\", max = 50, reason = \"slowly\" },\n  \
                  { operation = \"handoff\", forbid = true, reason = \"by hand\" },\n]";
    let settings = Home::with_file(&profile_and(guards)).load().expect("good");
    let found = &settings.profiles[0].guards;
    let found = found
        .iter()
        .map(|guard| (guard.operation, guard.rule, &*guard.reason));
    let expected = [
        (
            Operation::Rotate,
            Rule::AtLeast(Level::Words),
            "two people look",
        ),
        (
            Operation::Update,
            Rule::Forbid,
            "change freeze until Monday",
        ),
        (Operation::Bulk, Rule::Max(50), "slowly"),
        (Operation::HandOff, Rule::Forbid, "by hand"),
    ];
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn the_names_of_version_0_2_0_are_still_read() {
    let of = |[level, typed, words, operation]: [&str; 4]| {
        let guard = |operation: &str, level: &str| {
            format!("{{ operation = \"{operation}\", {level}, reason = \"why\" }}")
        };
        let at = |level: &str| guard("rotate", &format!("level = \"{level}\""));
        let guards = [level, typed, words].map(at).join(", ");
        let forbidden = guard(operation, "forbid = true");
        let file = profile_and(&format!("guard = [{guards}, {forbidden}]"));
        Home::with_file(&file).load().expect("good").profiles[0]
            .guards
            .clone()
    };
    let now = of(["confirm", "type-id", "type-phrase", "handoff"]);
    assert_eq!(of(["key", "typed", "words", "hand_off"]), now);
    let problems = problems(&profile_and(
        "environment_tag = \"Testing\"\nenvironment = \"Testing\"",
    ));
    assert_eq!(problems[0].what, "environment is set twice; keep one");
}

#[test]
fn a_wrong_guard_is_refused_with_its_position_and_the_nearest_word() {
    let reason = "reason = \"why\"";
    #[rustfmt::skip] // A table: one case per line.
    let rows = [
        (format!("{{ operation = \"rotat\", forbid = true, {reason} }}"), 24, "did you mean \"rotate\"?"),
        (format!("{{ operation = \"rotate\", level = \"type-i\", {reason} }}"), 42, "did you mean \"type-id\"?"),
        (format!("{{ operation = \"rotate\", forbit = true, {reason} }}"), 34, "did you mean \"forbid\"?"),
        (format!("{{ operation = \"rotate\", {reason} }}"), 10, "exactly one of level, forbid and max"),
        (format!("{{ operation = \"bulk\", max = 5, forbid = true, {reason} }}"), 10, "exactly one of"),
        (format!("{{ operation = \"rotate\", max = 5, {reason} }}"), 10, "max is for operation = \"bulk\""),
        (format!("{{ operation = \"bulk\", level = \"type-id\", {reason} }}"), 10, "level does not apply to bulk"),
        (format!("{{ operation = \"abandon\", level = \"type-id\", {reason} }}"), 10, "can only be forbidden"),
        (format!("{{ operation = \"rotate\", forbid = false, {reason} }}"), 43, "forbid = false has no effect"),
        (format!("{{ forbid = true, {reason} }}"), 10, "has no operation"),
        ("{ operation = \"rotate\", forbid = true }".into(), 10, "has no reason"),
        ("{ operation = \"rotate\", forbid = true, reason = \" \" }".into(), 58, "reason is empty"),
        (format!("{{ operation = \"rotate\", forbid = true, reason = \"{CANARY}4eC39HqLyjWDarjtT1zdP7dc\" }}"), 58, "looks as if it contains an API key"),
        ("\"rotate\"".into(), 10, "a guard is a table"),
    ];
    for (guard, column, words) in rows {
        let text = profile_and(&format!("guard = [{guard}]"));
        has_problem(&text, (4, column), words);
    }
    let text = profile_and("guard = \"rotate\"");
    has_problem(&text, (4, 9), "guard must be a list of rules");
}

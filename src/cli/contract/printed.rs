//! Which command prints which shape.

use super::Form::{self, Array, Lines, One};
pub(super) use super::Printed;

const fn of(command: &'static str, form: Form, shapes: &'static [&'static str]) -> Printed {
    Printed {
        command,
        form,
        shapes,
    }
}

pub(super) const ALL: &[Printed] = &[
    of("list", Array, &["group"]),
    of("show ID", One, &["group"]),
    of("get ID", One, &["answer"]),
    of("get --refresh-all", Lines, &["refreshed", "refresh-sum"]),
    of("get --refresh-all --dry-run", One, &["refresh-plan"]),
    of("create ID", One, &["answer"]),
    of("create ID --dry-run", One, &["request"]),
    of("update ID", One, &["answer"]),
    of("update ID --dry-run", One, &["request"]),
    of("rotate ID", One, &["rotated"]),
    of("rotate ID --dry-run", One, &["rotation-request"]),
    of("rotate, of many groups", Lines, &["bulk-item", "bulk-sum"]),
    of("rotate, of many groups --dry-run", One, &["bulk-plan"]),
    of("rotations", Array, &["rotation"]),
    of("rotations settle [ID]", Array, &["settled"]),
    of("rotations abandon ID", One, &["rotation"]),
    of("rotations handoff [ID]", Array, &["hand-off"]),
    of("history [ID]", Array, &["entry"]),
    of("whose", Array, &["owner"]),
    of("import FILE", Lines, &["taken-row", "taken-sum"]),
    of(
        "import FILE --create --update",
        Lines,
        &["sent-row", "sent-sum"],
    ),
    of(
        "import FILE --create --update --dry-run",
        Lines,
        &["planned-row", "plan-sum"],
    ),
    of(
        "import FILE and apply PATH, where rows are wrong",
        Lines,
        &["wrong-row", "wrong-sum"],
    ),
    of("export", Array, &["exported"]),
    of(
        "apply PATH",
        Lines,
        &["planned-row", "sent-row", "sent-sum"],
    ),
    of("apply PATH --dry-run", Lines, &["planned-row", "plan-sum"]),
    of("profile add NAME", One, &["profile-added"]),
    of("profile list", Array, &["profile"]),
    of("profile show [NAME]", One, &["profile"]),
    of("profile bind NAME", Array, &["binding"]),
    of("directory backup FILE", One, &["directory-copy"]),
    of("place list", Array, &["place"]),
    of("place show NAME", One, &["place-shown"]),
    of("place rename NAME TO", One, &["place"]),
    of("place merge NAME INTO", One, &["place"]),
    of("place acknowledge NAME", One, &["place"]),
    of("profile check [NAME]", One, &["check"]),
    of("profile remove NAME", One, &["profile-removed"]),
    of("profile key NAME", One, &["profile-key"]),
    of("demo --hold", One, &["demo"]),
    of("serve", One, &["serving"]),
    of("serve keys create", One, &["key-made"]),
    of("serve keys list", Array, &["key"]),
    of("serve keys revoke ID", One, &["key"]),
    of("doctor", One, &["report"]),
    of("completions SHELL", One, &["script"]),
    of("man", One, &["page"]),
    of("man DIR", Array, &["text"]),
    of("help [COMMAND]", One, &["help"]),
    of("help json [COMMAND]", One, &["contract"]),
    of("help exit-codes", Array, &["exit-code"]),
    of("any command that fails", One, &["failure"]),
];

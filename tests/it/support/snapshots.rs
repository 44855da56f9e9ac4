//! Snapshots of insta, in folders beside the tests.

use std::path::Path;

/// Compares a text with `tests/it/FOLDER/NAME.snap`.
pub(crate) fn assert_snapshot(folder: &str, name: impl Into<String>, text: impl AsRef<str>) {
    insta::with_settings!({
        snapshot_path => Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(folder),
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name.into(), text.as_ref());
    });
}

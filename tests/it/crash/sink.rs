//! A hand-off command that stores what it gets in a folder that no scan for secrets reads, and can be kept waiting.

use super::*;

const SCRIPT: &str = r#"cat > "$1/$$.new" && mv "$1/$$.new" "$1/$$.in"
while [ -e "$1/wait" ]; do sleep 0.02; done
"#;

#[derive(Clone)]
pub(super) struct Sink(PathBuf);

impl Sink {
    pub(super) fn new(folder: &Path) -> Self {
        fs::create_dir_all(folder).expect("a folder");
        fs::write(folder.join("script"), SCRIPT).expect("written");
        Self(folder.to_owned())
    }

    /// From now on commands do not end.
    pub(super) fn keep_waiting(&self) {
        fs::write(self.0.join("wait"), "").expect("written");
    }

    pub(super) fn resume(&self) {
        fs::remove_file(self.0.join("wait")).expect("it waits");
    }

    pub(super) fn command(&self) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        let script = self.0.join("script");
        vec!["/bin/sh".into(), text(&script), text(&self.0)]
    }

    /// Waits until a command has its token.
    pub(super) async fn has_begun(&self) {
        eventually("a command begins", || !self.taken().is_empty()).await;
    }

    /// Group and token of every hand-off that arrived, in any order.
    pub(super) fn taken(&self) -> Vec<(String, String)> {
        let files = fs::read_dir(&self.0).expect("readable").map(|entry| {
            let path = entry.expect("an entry").path();
            path.extension()
                .is_some_and(|end| end == "in")
                .then_some(path)
        });
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let read = |path| {
            let message = fs::read(path).expect("readable");
            let message: Value = serde_json::from_slice(&message).expect("JSON");
            (text(&message["user_group_id"]), text(&message["token"]))
        };
        files.flatten().map(read).collect()
    }
}

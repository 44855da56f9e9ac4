//! A file at its size limit: the console says so and continues, and the terminal is restored.

use super::{PATIENCE, Scene, assert_restored};

#[test]
fn a_file_at_its_limit_does_not_end_the_console() {
    let scene = Scene::new();
    let script = "ulimit -f 0; groupdesk; echo \"status $?.\"";
    let mut session = scene.shell(script).start();
    session.wait_for("acme-eu", PATIENCE);
    // The token is read again, and the answer cannot be recorded.
    session.type_until("t", "NOT read: the service was only read", PATIENCE);
    session.type_until("\r", "Enter open", PATIENCE);
    session.type_until("q", "status 0.", PATIENCE);
    session.exit_status(PATIENCE);
    assert_restored(&mut session, "a file at its limit");
}

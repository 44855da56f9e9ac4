//! Consoles in the places that need a history of their own: without a profile, with a request in flight, with a lost
//! answer, a stopped batch, an unknown key, an alarm.

use groupdesk::{
    config::guard::{Guard, Level, Operation, Rule},
    operations::UnknownIdPolicy,
    tui::keymap::Focus,
};

use super::Scene;
use crate::{
    console::scene::{NOW, first_start, fresh_home, open_with},
    support::{
        console::Console,
        proxy::{Gate, ProxyFault, Then},
        world::{ANA, LI, Side, id},
    },
};

pub(super) struct Reached {
    pub(super) console: Console,
    /// A request is in flight: nothing settles.
    pub(super) is_waiting: bool,
    gate: Option<Gate>,
    pub(super) folders: Vec<tempfile::TempDir>,
}

impl Reached {
    fn at(console: Console) -> Self {
        Self {
            console,
            is_waiting: false,
            gate: None,
            folders: Vec::new(),
        }
    }

    /// Lets a request in flight end.
    pub(super) async fn end(&mut self) {
        if let Some(gate) = self.gate.take() {
            (0..8).for_each(|_| gate.open());
        }
        self.console.settle().await;
    }
}

pub(super) async fn reach(scene: &Scene, focus: Focus) -> Reached {
    match focus {
        Focus::Welcome => start(scene, "").await,
        Focus::ConnectField => start(scene, "<enter>").await,
        Focus::ConnectChoice => start(scene, "<enter>eu<tab><tab><tab>").await,
        Focus::ConnectCheck => checked(scene).await,
        Focus::ConfirmKey => {
            let mut console = open_with(vec![scene.reader.clone()]).await;
            console.keys("e<end> 2<ctrl-x>").await;
            Reached::at(console)
        }
        Focus::ConfirmTyped => {
            let installation = scene.world.installation(Side::Testing).at(NOW);
            let guarded = installation.with(|profile| {
                profile.guards = vec![Guard {
                    operation: Operation::Update,
                    rule: Rule::AtLeast(Level::Typed),
                    reason: "two people look".into(),
                }];
            });
            let mut console = open_with(vec![guarded.operations()]).await;
            console.keys("e<end> 2<ctrl-s>y").await;
            Reached::at(console)
        }
        Focus::RotateRunning => running(scene).await,
        Focus::AbandonReason => {
            lose_an_answer(scene).await;
            scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
            let mut console = open_with(vec![scene.reader.clone()]).await;
            console.keys("3A").await;
            Reached::at(console)
        }
        Focus::Whose | Focus::WhoseFound => {
            let mut console = open_with(vec![scene.reader.clone()]).await;
            console.keys("W").await;
            if focus == Focus::WhoseFound {
                console.paste(&scene.tokens[1]).await.keys("<enter>").await;
            }
            Reached::at(console)
        }
        Focus::BulkCheck => {
            let mut console = open_with(vec![scene.reader.clone()]).await;
            console.keys("tTy<esc><esc><esc><space>T").await;
            Reached::at(console)
        }
        Focus::ResumeCheck | Focus::ResumeTyped => stopped(scene, focus).await,
        Focus::PlaceChoice | Focus::PlaceNew | Focus::PlaceProof | Focus::PlaceWait => {
            asked(scene, focus).await
        }
        Focus::PlaceReason => {
            let other_tag = |body: &mut serde_json::Value| {
                body["user_group"]["api_environment_tag"] = "Customer".into();
            };
            scene.proxy.next("GET", ProxyFault::change(other_tag));
            let acme = id("acme-eu");
            let read = scene.reader.look_up(&acme, UnknownIdPolicy::KnownOnly);
            read.await.expect("an answer");
            Reached::at(open_with(vec![scene.reader.clone()]).await)
        }
        other => panic!("{other:?} is a place of a usual console"),
    }
}

/// A console without a profile, and a home of its own.
async fn start(scene: &Scene, keys: &str) -> Reached {
    let (home, _) = fresh_home(&scene.world);
    let mut console = first_start(home.path(), false).await;
    console.keys(keys).await;
    Reached {
        folders: vec![home],
        ..Reached::at(console)
    }
}

async fn checked(scene: &Scene) -> Reached {
    let mut reached = start(scene, "<enter>eu<tab>").await;
    let key = reached.folders[0].path().join("eu.key");
    let console = &mut reached.console;
    console.paste(&scene.proxy.base_url()).await;
    console.keys("<tab><tab><left><tab><right><tab>").await;
    console.paste(&key.display().to_string()).await;
    console.keys("<ctrl-s>").await;
    reached
}

/// A rotation is in flight.
async fn running(scene: &Scene) -> Reached {
    let gate = Gate::new();
    let mut console = open_with(vec![scene.reader.clone()]).await;
    console.keys("tT").await;
    scene.proxy.next("POST", ProxyFault::passed().behind(&gate));
    console.burst("y");
    gate.reached().await;
    console.draw();
    Reached {
        is_waiting: true,
        gate: Some(gate),
        ..Reached::at(console)
    }
}

async fn lose_an_answer(scene: &Scene) {
    let mut console = open_with(vec![scene.reader.clone()]).await;
    console.keys("tT").await;
    scene.proxy.next("POST", ProxyFault::swallowed(Then::Drop));
    scene.proxy.next("GET", ProxyFault::passed());
    scene.proxy.next("GET", ProxyFault::swallowed(Then::Drop));
    console.keys("y").await.shows("UNKNOWN");
}

/// A batch that was stopped; going on with that of another operator in production asks for words.
async fn stopped(scene: &Scene, focus: Focus) -> Reached {
    let (side, by) = match focus {
        Focus::ResumeTyped => (Side::Production, LI),
        _ => (Side::Testing, ANA),
    };
    let installation = || scene.world.installation(side).at(NOW);
    let through = installation().by(by).through(scene.proxy.base_url());
    let mut console = open_with(vec![through.operations()]).await;
    console
        .keys("*B<shift-tab><right><right><tab>tier<tab>copper<ctrl-s>")
        .await;
    let gate = Gate::new();
    for _ in 0..4 {
        scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
    }
    if side == Side::Production {
        console.keys("edit 7 in production").await.burst("<enter>");
    } else {
        console.burst("y");
    }
    gate.reached().await;
    console.until("4 running").await.burst("X");
    (0..4).for_each(|_| gate.open());
    console.until("Stopped as asked: ").await.settle().await;
    let mut console = open_with(vec![installation().operations()]).await;
    console.keys("5R").await;
    Reached::at(console)
}

/// Another API key, whose environment nobody has confirmed.
async fn asked(scene: &Scene, focus: Focus) -> Reached {
    let name = if focus == Focus::PlaceNew {
        "elsewhere"
    } else {
        "testing"
    };
    let key = scene.world.new_key(name, Some("Testing"));
    let installation = scene.world.installation(Side::Testing).at(NOW);
    let installation = installation.through(scene.proxy.base_url()).key(&key);
    let mut console = open_with(vec![installation.unbound()]).await;
    match focus {
        Focus::PlaceNew => {
            console.keys("<down><down><enter>").await;
        }
        Focus::PlaceProof => {
            console.keys("<down><enter>y").await;
        }
        _ => {}
    }
    if focus == Focus::PlaceWait {
        let gate = Gate::new();
        console.keys("<down><enter>y<tab>").await;
        scene.proxy.next("GET", ProxyFault::passed().behind(&gate));
        console.burst("<enter>");
        gate.reached().await;
        console.draw();
        return Reached {
            is_waiting: true,
            gate: Some(gate),
            ..Reached::at(console)
        };
    }
    Reached::at(console)
}

//! Random keys in a console on a screen in memory, with a real service behind a proxy that fails at random. What
//! reaches the service is counted there, and compared with what was reviewed here.

use groupdesk::tui::state::message::Ticket;

use super::{NOW, USUAL, prelude::*};
use crate::support::random::Random;

/// Scripts that lead to a place; random keys alone would rarely get there.
const WAYS: [&str; 24] = [
    "<enter>",
    "e<end>x<ctrl-s>",
    "<tab><enter>",
    "y",
    "tT",
    "T",
    "<esc>",
    "<esc><esc><esc>",
    "P<down><enter>",
    "P<up><enter>",
    "*T",
    "<space>Trotate 1 in testing<enter>",
    "acme-eu<enter>",
    "onew<enter>",
    "3A",
    "gone<enter>",
    "<ctrl-s>",
    "/a<enter>",
    "xa<ctrl-s>",
    "<f3>",
    "e<tab>a<enter>9<enter>8<enter>",
    "2f",
    "Wabc<enter>",
    "e<tab><tab><f3>",
];

const PASTES: [&str; 8] = [
    "y",
    "acme-eu\n",
    "q\nTy\r\n\u{3}",
    "{\"a\": [1, {}]}",
    "7\t40\n8\t41\n",
    "\u{1b}[A\u{1b}[201~y",
    "\u{202e}\u{0}\u{9b}31m",
    "z\u{301}\u{302}東京👩\u{200d}👩",
];

/// What was sent after a review, by operation.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Reviewed {
    creates: usize,
    updates: usize,
    rotations: usize,
}

pub(super) struct Played {
    pub(super) keys: usize,
    pub(super) sent: Reviewed,
}

fn any_key(dice: &mut Random) -> KeyEvent {
    use KeyCode::{
        BackTab, Backspace, Char, Delete, Down, End, Enter, Esc, F, Home, Insert, Left, Null,
        PageDown, PageUp, Right, Tab, Up,
    };
    let code = match dice.below(10) {
        0 => dice.one(&[Enter, Esc, Tab, BackTab, Backspace, Delete]),
        1 => dice.one(&[Up, Down, Left, Right, Home, End]),
        2 => dice.one(&[PageUp, PageDown, Insert, Null, F(1), F(2)]),
        3 => F(dice.below(24) as u8 + 1),
        4 => Char(dice.one(&[
            'é', '東', '\u{301}', '\u{202e}', '\u{1b}', '\0', '👩', '\u{9b}',
        ])),
        5 => Char(dice.one(&['T', 'y', 'Y', 'e', 't', '\n', ' ', '*'])),
        _ => Char((b' ' + dice.below(95) as u8).into()),
    };
    let modifiers = match dice.below(12) {
        0 => KeyModifiers::CONTROL,
        1 => KeyModifiers::ALT,
        2 => KeyModifiers::SHIFT,
        _ => KeyModifiers::NONE,
    };
    KeyEvent::new(code, modifiers)
}

/// A random fault of the next request.
fn any_fault(dice: &mut Random) -> ProxyFault {
    let says = |status: &str, body: &str| {
        Then::Instead(http(status, &["Content-Type: application/json"], body))
    };
    match dice.below(12) {
        0 => ProxyFault::applied(Then::Drop),
        1 => ProxyFault::applied(Then::Reset),
        2 => ProxyFault::applied(Then::Half),
        3 => ProxyFault::swallowed(Then::Drop),
        4 => ProxyFault::swallowed(Then::Hang),
        5 => ProxyFault::swallowed(says("500 Oops", "no")),
        6 => ProxyFault::swallowed(says("200 OK", "{\"success\": 0, \"error\": \"no\"}")),
        7 => ProxyFault::applied(says("502 Bad Gateway", "<html>")),
        8 => ProxyFault::change(|body| body["user_group"]["name"] = 7.into()),
        _ => ProxyFault::passed(),
    }
}

/// The console, and what it was allowed to send so far.
struct Session {
    console: Console,
    seen: BTreeSet<Ticket>,
    reviewed: Reviewed,
    keys: usize,
}

impl Session {
    /// Presses a key. A write may start only from a review, by the key that the review asks for.
    fn press(&mut self, key: KeyEvent) {
        let place = self.console.runner.app.top().focus();
        // Avoids writing a file into the folder where the tests run.
        let key = if place == Focus::WritePath {
            KeyEvent::from(KeyCode::Esc)
        } else {
            key
        };
        self.console.runner.take(Msg::Key(key));
        self.keys += 1;
        let running = &self.console.runner.app.context.running;
        let begun = running
            .iter()
            .filter(|(ticket, running)| running.job.is_write && !self.seen.contains(*ticket));
        let begun: Vec<_> = begun
            .map(|(ticket, running)| (*ticket, running.job.label.clone()))
            .collect();
        for (ticket, label) in begun {
            self.seen.insert(ticket);
            let enter = key.code == KeyCode::Enter;
            let y = key.code == KeyCode::Char('y');
            let (word, rest) = label.split_once(' ').unwrap_or_default();
            let many = rest
                .split_once(' ')
                .filter(|(_, unit)| unit.starts_with("group"));
            let (may, counter, count) = match (word, many) {
                ("create", _) => (Self::may_apply(place, y), &mut self.reviewed.creates, 1),
                ("update", _) => (Self::may_apply(place, y), &mut self.reviewed.updates, 1),
                ("rotate", Some((count, _))) => (
                    place == Focus::BulkTyped && enter,
                    &mut self.reviewed.rotations,
                    count.parse().expect("a number"),
                ),
                ("edit", Some((count, _))) => (
                    place == Focus::BulkEditTyped && enter || place == Focus::BulkEditConfirm && y,
                    &mut self.reviewed.updates,
                    count.parse().expect("a number"),
                ),
                ("rotate", None) => (
                    place == Focus::RotateTyped && enter || place == Focus::RotateCheck && y,
                    &mut self.reviewed.rotations,
                    1,
                ),
                // Written to the directory only.
                ("save" | "close" | "export", _) => (true, &mut self.reviewed.creates, 0),
                _ => panic!("{label}: an unknown write"),
            };
            assert!(may, "{label} by {key:?} in {place:?}");
            *counter += count;
        }
    }

    fn may_apply(place: Focus, y: bool) -> bool {
        place == Focus::Review && y
    }
}

/// Presses this many random keys, starting at a place; deterministic except for the order of answers.
pub(super) async fn random_session(seed: u64, keys: usize) -> Played {
    let world = World::new().await;
    let mut meddlers = Vec::new();
    let (mut unhurried, mut operations) = (Vec::new(), Vec::new());
    for side in [Side::Testing, Side::Production] {
        let direct = world.operations(side);
        for (group, name) in [
            ("acme-eu", "Acme"),
            ("globex", "Globex"),
            ("initech", "Initech"),
        ] {
            let wanted = groupdesk::domain::change::DesiredFields {
                name: Some(name.into()),
                mapping: Some([("7".to_owned(), "40".to_owned())].into_iter().collect()),
                properties: serde_json::json!({"tier": "gold"}).as_object().cloned(),
            };
            let group = crate::support::world::id(group);
            direct.create(&group, &wanted).await.expect("created");
        }
        let proxy = FaultyProxy::before(world.address()).await;
        let installation = world.installation(side).at(NOW).through(proxy.base_url());
        unhurried.push(installation.clone().operations());
        // Later, so that a request that hangs ends soon.
        let installation = installation.timeout(std::time::Duration::from_millis(300));
        operations.push(installation.operations());
        meddlers.push(proxy);
    }
    let before = world.secrets().len();
    let mut dice = Random::new(seed);
    let theme = Theme::default();
    let clock = groupdesk::operations::Clock::Fixed(NOW);
    let current = dice.below(2);
    let console = Console::open_at(unhurried, current, USUAL, theme, clock).await;
    let mut session = Session {
        console,
        seen: BTreeSet::new(),
        reviewed: Reviewed::default(),
        keys: 0,
    };
    // First without faults, so that something is counted in every session.
    for key in parse("e<end>x<ctrl-s>y<enter>") {
        session.press(key);
        session.console.settle().await;
    }
    session.seen.clear();
    session.console = Console::open_at(operations.clone(), current, USUAL, theme, clock).await;
    let ways: Vec<_> = places().collect();
    let (way, _) = ways[seed as usize % ways.len()];
    for key in parse(way) {
        session.press(key);
        session.console.settle().await;
    }
    while session.keys < keys {
        for proxy in &meddlers {
            for method in ["GET", "PUT", "POST"] {
                proxy.calm(method);
                proxy.next(method, any_fault(&mut dice));
            }
        }
        match dice.below(20) {
            0..=5 => {
                for key in parse(dice.one(&WAYS)) {
                    session.press(key);
                    if dice.once_in(3) {
                        session.console.settle().await;
                    }
                }
            }
            6 => {
                let text = dice.one(&PASTES);
                session.console.runner.take(Msg::Paste(text.into()));
            }
            7 => {
                let size = (dice.below(170) as u16, dice.below(60) as u16);
                session.console.resize(size);
            }
            8 => session.console.settle().await,
            _ => session.press(any_key(&mut dice)),
        }
        if dice.once_in(4) {
            session.console.draw();
        }
        if session.console.runner.reason().is_some() {
            // The console was quit; requests under way end, and it is opened again.
            session.console.settle().await;
            session.seen.clear();
            session.console =
                Console::open_at(operations.clone(), dice.below(2), USUAL, theme, clock).await;
        }
        assert!(session.console.runner.app.context.messages.all().len() <= 500);
    }
    session.console.settle().await;
    // A reviewed write may have been refused here; no write may have come without a review.
    let Session { reviewed, keys, .. } = session;
    let count = |method: &str| {
        meddlers
            .iter()
            .map(|proxy| proxy.count(method))
            .sum::<usize>()
    };
    let (updates, rotations) = (count("PUT"), count("POST"));
    let creates = world.secrets().len() - before;
    assert!(
        updates <= reviewed.updates,
        "{updates} updates of {reviewed:?} (seed {seed})"
    );
    assert!(
        rotations <= reviewed.rotations,
        "{rotations} rotations of {reviewed:?} (seed {seed})"
    );
    assert!(
        creates <= reviewed.creates,
        "{creates} groups of {reviewed:?} (seed {seed})"
    );
    Played {
        keys,
        sent: Reviewed {
            creates,
            updates,
            rotations,
        },
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_random_key_changes_anything_without_its_review() {
    let (sessions, keys) = if long::all() { (62, 1_700) } else { (5, 120) };
    let mut all = Played {
        keys: 0,
        sent: Reviewed::default(),
    };
    for seed in 0..sessions {
        // In another order than the places, so that even a few sessions start in different ones.
        let played = random_session(seed * 7, keys).await;
        all.keys += played.keys;
        all.sent.creates += played.sent.creates;
        all.sent.updates += played.sent.updates;
        all.sent.rotations += played.sent.rotations;
    }
    println!("{sessions} sessions, {} keys, {:?}", all.keys, all.sent);
    assert!(all.keys >= sessions as usize * keys);
    assert!(!long::all() || all.keys >= 100_000);
    // Otherwise the test would also pass if nothing happened in any session.
    assert!(all.sent.updates >= sessions as usize, "{:?}", all.sent);
}

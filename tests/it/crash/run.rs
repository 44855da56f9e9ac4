//! One run: a rotation with one fault that dies at one point, two recoveries that die at one place, a last one that does
//! not; then everything that must hold is looked at.

use std::{pin::pin, process::Stdio, time::Duration};

use jiff::Timestamp;
use rustix::process::{Pid, Signal, kill_process};

use super::{
    case::{BYTES_OUT, Case, HANDING_OFF, Way},
    child::{Order, Task},
    faults::Fault,
    noon,
    shipped::groupdesk,
    sink::Sink,
    stage::{Process, Scene, Stage},
    wrong::Variant,
};
use crate::support::proxy::{Gate, ProxyFault, Then};

/// Settle horizon with the time-outs used here, in seconds.
const HORIZON: u64 = 60;
/// Of a request, where the test does not wait for it.
const TIMEOUT: Duration = Duration::from_secs(20);
/// So long before now the rotation happens that the program itself settles, with a clock that nobody can set.
const AGO: i64 = 3 * HORIZON as i64;

/// What a run came to.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// Whatever did not hold.
    pub(super) wrong: Vec<String>,
    /// Rotate requests that left the installation.
    pub(super) requests: usize,
    /// The rotation was killed where it was to be.
    pub(super) died: bool,
    /// Recoveries that were killed.
    pub(super) died_again: usize,
    /// What the processes said that failed.
    pub(super) failures: Vec<String>,
}

pub(super) async fn play(stage: &Stage, case: Case, variant: Variant) -> Played {
    let scene = stage.scene().await;
    let mut run = Run {
        held: Gate::new(),
        applied: Gate::new(),
        has_left: false,
        scene: &scene,
        sink: scene.sink(),
        noon: match case.way {
            Way::Settle => Timestamp::now().as_second() - AGO,
            Way::LookUp | Way::Recover => noon().as_second(),
        },
        case,
        variant,
        played: Played::default(),
    };
    let mut at_proxy = case
        .fault
        .proxy_fault(&scene.group, &scene.old)
        .held(&run.held);
    if case.fault.is_applied() {
        at_proxy = at_proxy.behind(&run.applied);
    }
    scene.proxy.next("POST", at_proxy);
    run.rotation().await;
    // The program has no clock that could stand within the horizon.
    run.recovery(vec![1, 2], case.again).await;
    if case.fault == Fault::ArrivesLate && run.has_left {
        run.let_through().await;
    }
    match case.way {
        Way::LookUp => {
            run.recovery(vec![HORIZON], case.again).await;
            let times = vec![HORIZON + 10, HORIZON + 20, 2 * HORIZON];
            run.recovery(times, None).await;
        }
        // One recovery that lives is enough.
        Way::Recover => {
            run.recovery(vec![HORIZON], case.again).await;
            run.recovery(vec![HORIZON + 10], None).await;
        }
        Way::Settle => {
            run.settle(case.again).await;
            run.settle(None).await;
        }
    }
    run.look().await;
    run.played
}

pub(super) struct Run<'a> {
    pub(super) scene: &'a Scene<'a>,
    /// Takes the new token.
    pub(super) sink: Sink,
    /// When it all happens, in seconds since 1970.
    noon: i64,
    pub(super) case: Case,
    pub(super) variant: Variant,
    /// Holds the rotate request before the service hears of it.
    held: Gate,
    /// Holds its answer.
    applied: Gate,
    pub(super) has_left: bool,
    pub(super) played: Played,
}

impl Run<'_> {
    fn order(&self, task: Task, kill: Option<u8>) -> Order {
        Order {
            kill,
            variant: self.variant,
            noon: self.noon,
            handoff: self.sink.command(),
            ..self.scene.order(task)
        }
    }

    async fn rotation(&mut self) {
        let mut order = self.order(Task::Rotate, self.case.kill);
        let in_command = self.case.kill == Some(HANDING_OFF);
        if in_command {
            self.sink.keep_waiting();
        }
        if self.case.fault.hangs() {
            order.timeout = Duration::from_secs(3);
        }
        let mut installation = Process::start(&order);
        let (held, sink) = (self.held.clone(), self.sink.clone());
        let mut is_over = false;
        loop {
            let said = tokio::select! {
                said = installation.said() => said,
                () = sink.has_begun(), if in_command && !is_over => {
                    is_over = true;
                    installation.kill();
                    continue;
                }
                () = held.reached(), if !self.has_left => {
                    self.has_left = true;
                    if self.case.kill == Some(BYTES_OUT) {
                        installation.kill();
                    }
                    if self.case.fault != Fault::ArrivesLate {
                        self.let_through().await;
                    }
                    continue;
                }
            };
            match said {
                Some((what, words)) if what == "shown" => {
                    self.must_be_durable(&words);
                    installation.resume().await;
                }
                Some((what, words)) => self.hears(&what, words),
                None => break,
            }
        }
        self.played.died = installation.is_killed().await;
        if in_command {
            // What the crash left running may end now.
            self.sink.resume();
        }
    }

    async fn let_through(&self) {
        self.held.open();
        if self.case.fault.is_applied() {
            self.applied.reached().await;
            self.applied.open();
        }
    }

    async fn recovery(&mut self, seconds: Vec<u64>, kill: Option<u8>) {
        let task = match self.case.way {
            Way::LookUp => Task::LookUp(seconds),
            Way::Recover | Way::Settle => Task::Recover(seconds),
        };
        let order = self.order(task, kill);
        let held = Gate::new();
        if kill == Some(BYTES_OUT) {
            let at_proxy = ProxyFault::swallowed(Then::Drop).held(&held);
            self.scene.proxy.next("GET", at_proxy);
        }
        let mut installation = Process::start(&order);
        loop {
            tokio::select! {
                said = installation.said() => match said {
                    Some((what, words)) => self.hears(&what, words),
                    None => break,
                },
                () = held.reached(), if kill == Some(BYTES_OUT) => {
                    installation.kill();
                    held.open();
                    while installation.said().await.is_some() {}
                    break;
                }
            }
        }
        self.played.died_again += usize::from(installation.is_killed().await);
        // Where nothing was open, nothing was read.
        self.scene.proxy.calm("GET");
    }

    /// The program itself; from outside it dies with its get on the way, or with the answer on the way.
    async fn settle(&mut self, kill: Option<u8>) {
        self.scene.restart_machine();
        let gate = Gate::new();
        let at_proxy = match kill {
            None => None,
            Some(9 | BYTES_OUT) => Some(ProxyFault::swallowed(Then::Drop).held(&gate)),
            Some(_) => Some(ProxyFault::passed().behind(&gate)),
        };
        if let Some(at_proxy) = at_proxy {
            self.scene.proxy.next("GET", at_proxy);
        }
        let arguments = ["rotations", "settle"];
        let mut program = groupdesk(self.scene, &arguments, TIMEOUT, &self.sink.command());
        let program = program.stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = program.spawn().expect("it starts");
        let pid = Pid::from_raw(program.id().expect("it runs") as i32).expect("a process id");
        let mut ended = pin!(program.wait_with_output());
        let output = tokio::select! {
            ended = &mut ended => ended,
            () = gate.reached(), if kill.is_some() => {
                kill_process(pid, Signal::KILL).expect("it runs");
                gate.open();
                ended.await
            }
        };
        let output = output.expect("it ran");
        for said in [&output.stdout, &output.stderr] {
            self.must_be_clean(&String::from_utf8_lossy(said));
        }
        self.scene.proxy.calm("GET");
        match output.status.code() {
            None => self.played.died_again += 1,
            Some(0 | 7) => {}
            Some(_) => self.wrong(format!("the program: {output:?}")),
        }
    }

    pub(super) fn wrong(&mut self, what: impl Into<String>) {
        self.played.wrong.push(what.into());
    }

    /// A token is shown at this moment: another connection finds its fingerprint.
    fn must_be_durable(&mut self, shown: &str) {
        if !self.scene.is_durable(shown) {
            self.wrong("a token was shown before its fingerprint was durable");
        }
    }

    fn hears(&mut self, what: &str, words: String) {
        self.must_be_clean(&words);
        if what == "failed" {
            self.played.failures.push(words);
        }
    }

    fn must_be_clean(&mut self, words: &str) {
        let secrets = self.scene.secrets();
        if secrets.iter().any(|secret| words.contains(secret)) {
            self.wrong("a secret was said");
        }
    }
}

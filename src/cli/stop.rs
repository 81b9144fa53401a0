//! Ctrl-C, SIGTERM, and the terminal's end (SIGHUP): the first one asks the work to stop, the second one ends the program at once.

use super::{CliError, exit, out};
use std::sync::{Mutex, PoisonError};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
};

/// The message for a signal before there is work to hold; `None` once there is work, which [`listen`] stops.
static ENDS_WITH: Mutex<Option<&str>> = Mutex::new(None);

/// Until [`listen`] is called, the first signal ends the program with this sentence: there is no work that would have to be held.
pub(super) fn ends_with(sentence: &'static str) -> Result<(), CliError> {
    if ENDS_WITH.lock().unwrap_or_else(PoisonError::into_inner).replace(sentence).is_some() {
        return Ok(());
    }
    let (runtime, mut signals) = signals()?;
    std::thread::spawn(move || {
        runtime.block_on(async move {
            signals.any().await;
            // Held until the end, so that no work begins meanwhile.
            let sentence = ENDS_WITH.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(sentence) = *sentence {
                out::note(sentence);
                std::process::exit(exit::INTERRUPTED.into());
            }
        });
    });
    Ok(())
}

/// The signals that ask for an end.
struct Signals {
    interrupts: Signal,
    terminations: Signal,
    hangups: Signal,
}

impl Signals {
    async fn any(&mut self) {
        tokio::select! {
            _ = self.interrupts.recv() => {}
            _ = self.terminations.recv() => {}
            _ = self.hangups.recv() => {}
        }
    }
}

/// Listens from now on, with a runtime of its own.
fn signals() -> Result<(Runtime, Signals), CliError> {
    let failed = |error: std::io::Error| CliError::failed(format!("signals can't be listened to ({error})"));
    let runtime = Builder::new_current_thread().enable_io().build().map_err(failed)?;
    let listen = |kind| {
        let _inside = runtime.enter();
        signal(kind).map_err(failed)
    };
    let interrupts = listen(SignalKind::interrupt())?;
    let terminations = listen(SignalKind::terminate())?;
    let hangups = listen(SignalKind::hangup())?;
    Ok((runtime, Signals { interrupts, terminations, hangups }))
}

/// Listens for signals, on a thread that the work can't block. The value becomes true when the work must stop.
pub(super) fn listen() -> Result<watch::Receiver<bool>, CliError> {
    let (sender, receiver) = watch::channel(false);
    let (runtime, mut signals) = signals()?;
    ENDS_WITH.lock().unwrap_or_else(PoisonError::into_inner).take();
    std::thread::spawn(move || {
        runtime.block_on(async move {
            for _ in 0..2 {
                signals.any().await;
                if *sender.borrow() {
                    std::process::exit(exit::INTERRUPTED.into());
                }
                // Printed first: a listener may end the program at once.
                out::note("stopping; once more to end at once");
                sender.send_replace(true);
            }
        });
    });
    Ok(receiver)
}

//! Requests to a running job between two turns: from its lease, a person, or its time window.

use super::recorder::JobRecorder;
use crate::{
    runner::{RunError, lease::StopRequest, open_job::OpenJob},
    store::{ControlSignal, PAUSED_BY_PERSON},
};
use overnight_core::{job::record::HoldReason, machine::effect::Command};

impl JobRecorder<'_> {
    /// Acts on the requests that the heartbeat has received for the job.
    pub(super) async fn check_signals(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        let mut status = opened.lease.status.borrow().clone();
        if status.is_lost {
            return Err(opened.lease.lost().into());
        }
        // Unless a checkpoint has found the database back since.
        let failed =
            status.failed.take().filter(|(sent, _)| *sent > self.checkpoints.saved_at && !self.is_database_paused());
        failed.map_or(Ok(()), |(_, error)| self.tolerate_outage(opened, error))?;
        match status.signal() {
            Some(signal) => self.obey(opened, signal).await,
            None => Ok(()),
        }
    }

    /// The signal to a job that has no heartbeat to hear it: as none is sent yet, or as there is no lease. In the queue, the
    /// worker asks for all its jobs.
    pub(super) async fn ask_for_signal(&mut self, opened: &OpenJob) -> Result<Option<ControlSignal>, RunError> {
        let lease = &opened.lease;
        if lease.is_queued() {
            return Ok(lease.status.borrow().signal());
        }
        match self.store.control_signal(lease.id, lease.number).await {
            Ok(signal) => Ok(signal),
            Err(error) => self.tolerate_outage(opened, error).map(|()| None),
        }
    }

    /// Holds the job, between two turns, when its time window has closed.
    pub(super) async fn check_window(&mut self, opened: &mut OpenJob) -> Result<(), RunError> {
        let request = opened.lease.status.borrow().request;
        let Some(StopRequest::WindowClosed { opens }) = request.filter(|_| opened.job.is_running()) else {
            return Ok(());
        };
        self.await_lease(opened).await?;
        // If this fails, the job would rest until a person resumes it: it continues instead.
        match self.store.wake_at(opened.lease.id, opened.lease.number, opens).await {
            Ok(()) => {}
            Err(error) => return self.tolerate_outage(opened, error),
        }
        let detail = format!("its time window is closed; it goes on by itself at {opens}");
        self.command(opened, Command::Hold { reason: HoldReason::Window, detail }).await
    }

    /// Obeys a control signal.
    pub(super) async fn obey(&mut self, opened: &mut OpenJob, signal: ControlSignal) -> Result<(), RunError> {
        match signal {
            ControlSignal::Cancel => self.command(opened, Command::Cancel).await,
            ControlSignal::Pause => self.pause(opened, PAUSED_BY_PERSON).await,
        }
    }
}

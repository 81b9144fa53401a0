//! The page of one job as HTML: for a file that is opened from a folder, or for the server, where it has forms.

use super::{DoubtKind, GrowingList, JobReview, TableLine, record_anchor};
use askama::Template;
use base64::{Engine, prelude::BASE64_STANDARD};
use overnight_core::job::record::JobStatus;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The style of the review's pages.
pub(super) const STYLE: &str = concat!(include_str!("../theme.css"), include_str!("review.css"));
/// The script of these pages: without it all links work, with it there are keys and filters.
pub(super) const SCRIPT: &str = concat!(include_str!("review.js"), include_str!("edit.js"));

static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'",
        BASE64_STANDARD.encode(Sha256::digest(STYLE)),
        BASE64_STANDARD.encode(Sha256::digest(SCRIPT))
    )
});

/// The viewer of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Anyone who opens the file: nothing can be changed.
    Static,
    /// A reader of the server. The forms post to `/jobs/{id}/approve`, `approve-record`, `correct`, `settle` and `feedback`.
    Live {
        /// The page has no forms.
        read_only: bool,
        /// The name recorded for actions on this page; `None`: nobody is known.
        reviewer: Option<String>,
        /// Sent with each form as `token`.
        form_token: String,
        /// The address of the queue that the reader is working through.
        queue: Option<String>,
        /// The job's status in the database.
        status: JobStatus,
        /// The next step of a job that goes on.
        next: Option<String>,
    },
}

#[derive(Template)]
#[template(path = "review/job.html")]
struct JobPage<'p> {
    review: &'p JobReview,
    policy: &'p str,
    /// The token of forms, if there are forms.
    token: Option<&'p str>,
    reviewer: Option<&'p str>,
    is_live: bool,
    queue: Option<&'p str>,
    status: JobStatus,
    next: Option<&'p str>,
}

#[expect(
    clippy::unused_self,
    clippy::trivially_copy_pass_by_ref,
    reason = "the template asks the page, and hands on references"
)]
impl JobPage<'_> {
    fn style(&self) -> &'static str {
        STYLE
    }

    fn script(&self) -> &'static str {
        SCRIPT
    }

    fn has_forms(&self) -> bool {
        self.token.is_some()
    }

    fn percent(&self, part: &f32) -> String {
        format!("{:.2}", part * 100.0)
    }

    fn kinds(&self) -> [DoubtKind; 10] {
        DoubtKind::ALL
    }

    fn refused_kind(&self) -> DoubtKind {
        DoubtKind::Refused
    }

    fn unquoted_kind(&self) -> DoubtKind {
        DoubtKind::Unquoted
    }

    /// The element of the next record that is added to a list.
    fn new_anchor(&self, list: &GrowingList) -> String {
        record_anchor(&list.file, &list.place)
    }

    /// The address of page `page` of the job.
    fn page_address(&self, page: &usize) -> String {
        match (self.is_live, page) {
            (false, page) => self.review.file(*page),
            (true, page) => format!("{}/review{}", self.address(), page_query(*page, self.queue.is_some())),
        }
    }

    /// The part of a form's address that identifies its page.
    fn query(&self) -> String {
        page_query(self.review.page, self.queue.is_some())
    }

    /// The server's base address for this job.
    fn address(&self) -> String {
        format!("/jobs/{}", self.review.id)
    }
}

/// The query of a page's address: empty for the first page; also states whether the reader works through a queue.
pub fn page_query(page: usize, is_queue: bool) -> String {
    match (page, is_queue) {
        (0 | 1, false) => String::new(),
        (0 | 1, true) => "?queue=1".to_owned(),
        (page, false) => format!("?page={page}"),
        (page, true) => format!("?page={page}&queue=1"),
    }
}

/// The page of `review`.
pub fn render_job(review: &JobReview, mode: &Mode) -> String {
    let policy = content_policy(mode);
    let page = JobPage {
        review,
        policy: &policy,
        token: None,
        reviewer: None,
        is_live: false,
        queue: None,
        status: review.status,
        next: None,
    };
    let page = match mode {
        Mode::Static => page,
        Mode::Live { read_only, reviewer, form_token, queue, status, next } => JobPage {
            token: (!read_only && review.has_result).then_some(form_token.as_str()),
            reviewer: reviewer.as_deref(),
            is_live: true,
            queue: queue.as_deref(),
            status: *status,
            next: next.as_deref(),
            ..page
        },
    };
    // Writing into a text can't fail.
    page.render().unwrap_or_default()
}

/// The content security policy of the page, which is part of it; a server sends the same: only its own style, its own
/// script and images beside it are allowed.
pub fn content_policy(mode: &Mode) -> String {
    match mode {
        // A file that is opened from a folder has no origin for which 'self' works in every browser.
        Mode::Static => format!("{}; img-src 'self' file:; form-action 'none'", *POLICY),
        Mode::Live { .. } => format!("{}; img-src 'self'; connect-src 'self'; form-action 'self'", *POLICY),
    }
}

//! The page of one job as HTML: for a file that is opened from a folder, or for the server, where it has forms.

use super::{DoubtKind, GrowingList, JobReview, TableLine, record_anchor};
use askama::Template;
use base64::{Engine, prelude::BASE64_STANDARD};
use overnight_core::job::record::JobStatus;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// The style of the review's pages.
pub(super) const STYLE: &str = concat!(include_str!("../theme.css"), include_str!("review.css"));
/// Their script: without it all links work, with it there are keys and filters.
pub(super) const SCRIPT: &str = concat!(include_str!("review.js"), include_str!("edit.js"));

static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'",
        BASE64_STANDARD.encode(Sha256::digest(STYLE)),
        BASE64_STANDARD.encode(Sha256::digest(SCRIPT))
    )
});

/// Who looks at the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Whoever opens the file: nothing can be changed.
    Static,
    /// A reader of the server. The forms post to `/jobs/{id}/approve`, `approve-record`, `correct`, `settle` and `feedback`.
    Live {
        /// There are no forms.
        read_only: bool,
        /// Who is named for what is done here; none: nobody is known.
        reviewer: Option<String>,
        /// Goes with each form as `token`.
        form_token: String,
        /// The address of the queue that its reader goes through.
        queue: Option<String>,
        /// How the job stands, as the database has it.
        status: JobStatus,
        /// What happens next with a job that goes on.
        next: Option<String>,
    },
}

#[derive(Template)]
#[template(path = "review/job.html")]
struct JobPage<'p> {
    review: &'p JobReview,
    policy: &'p str,
    /// With forms: their token.
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

    /// The element of the record that comes to a list next.
    fn new_anchor(&self, list: &GrowingList) -> String {
        record_anchor(&list.file, &list.place)
    }

    /// Page `page` of the job.
    fn page_address(&self, page: &usize) -> String {
        match (self.is_live, page) {
            (false, page) => self.review.file(*page),
            (true, page) => format!("{}/review{}", self.address(), page_query(*page, self.queue.is_some())),
        }
    }

    /// What a form's address says of the page that it stands on.
    fn query(&self) -> String {
        page_query(self.review.page, self.queue.is_some())
    }

    /// Where the server answers for this job.
    fn address(&self) -> String {
        format!("/jobs/{}", self.review.id)
    }
}

/// What an address says of a page: nothing of the first; and whether its reader goes through a queue.
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

/// The policy of the page, which stands in it; a server sends the same: nothing but its own style, its own script and images
/// beside it.
pub fn content_policy(mode: &Mode) -> String {
    match mode {
        // A file that is opened from a folder has no origin that 'self' could mean in every browser.
        Mode::Static => format!("{}; img-src 'self' file:; form-action 'none'", *POLICY),
        Mode::Live { .. } => format!("{}; img-src 'self'; connect-src 'self'; form-action 'self'", *POLICY),
    }
}

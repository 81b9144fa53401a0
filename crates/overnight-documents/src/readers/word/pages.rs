//! The ends of pages. The same text is read twice: once to count its pages, once to report them.

use crate::readers::{PageSink, Stopped};

/// Passes pages on to the receiver, if there is one.
pub(super) struct PageTurner<'p> {
    pages: Option<&'p mut dyn PageSink>,
    page: u64,
    is_wanted: bool,
}

impl<'p> PageTurner<'p> {
    /// The first page begins.
    pub(super) fn begin(mut pages: Option<&'p mut dyn PageSink>) -> Result<Self, Stopped> {
        let is_wanted = match &mut pages {
            Some(pages) => pages.begin(1)?,
            None => false,
        };
        Ok(Self { pages, page: 1, is_wanted })
    }

    /// Pages begun so far.
    pub(super) const fn page(&self) -> u64 {
        self.page
    }

    /// Ends the current page.
    pub(super) fn end(&mut self, text: &str, gaps: &[String]) -> Result<(), Stopped> {
        let Some(pages) = self.pages.as_mut().filter(|_| self.is_wanted) else { return Ok(()) };
        for gap in gaps {
            pages.gap(gap)?;
        }
        if text.is_empty() { Ok(()) } else { pages.text(text) }
    }

    /// The next page begins.
    pub(super) fn next(&mut self) -> Result<(), Stopped> {
        self.page += 1;
        if let Some(pages) = &mut self.pages {
            self.is_wanted = pages.begin(self.page)?;
        }
        Ok(())
    }
}

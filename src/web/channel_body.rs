//! The body of an answer that comes in pieces: events, or a file.

use axum::body::{Body, Bytes};
use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::sync::mpsc;

/// The most pieces that wait to be sent; with more, the sender waits.
const PIECES: usize = 4;

struct ChannelBody(mpsc::Receiver<Bytes>);

impl hyper::body::Body for ChannelBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, Infallible>>> {
        let piece = self.get_mut().0.poll_recv(context);
        piece.map(|piece| piece.map(|bytes| Ok(hyper::body::Frame::data(bytes))))
    }
}

/// A body, and the sender for its pieces. It ends when the sender is dropped; the sender closes if no one reads.
pub(super) fn channel_body() -> (mpsc::Sender<Bytes>, Body) {
    let (sender, receiver) = mpsc::channel(PIECES);
    (sender, Body::new(ChannelBody(receiver)))
}

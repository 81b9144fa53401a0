//! The body of an answer that comes in pieces: events, or a file.

use axum::body::{Body, Bytes};
use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::sync::mpsc;

/// Pieces that are waiting to be sent; more than these, and the sender waits.
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

/// A body, and where its pieces are put in. It ends when the sender is dropped, and the sender is closed when nobody listens.
pub(super) fn channel_body() -> (mpsc::Sender<Bytes>, Body) {
    let (sender, receiver) = mpsc::channel(PIECES);
    (sender, Body::new(ChannelBody(receiver)))
}

//! Sends a notice by e-mail.

use super::InvalidChannel;
#[cfg(feature = "network")]
use super::{
    Notice,
    channel::{TRY_TIMEOUT, chain},
};
use crate::model::remote::Key;
use lettre::message::{Mailbox, Mailboxes};
#[cfg(feature = "network")]
use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{MessageBuilder, header::ContentType},
    transport::smtp::authentication::Credentials,
};
use std::fmt;

/// Hosts that are this machine itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// A mail server, a sender and recipients.
#[derive(Clone)]
pub struct EmailChannel {
    #[cfg(feature = "network")]
    server: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    to: Mailboxes,
}

/// Not derived: the server has a password.
impl fmt::Debug for EmailChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmailChannel").field("to", &self.to.to_string()).finish_non_exhaustive()
    }
}

impl EmailChannel {
    /// `smtp` is `smtps://HOST` (TLS from the first byte), `smtp://HOST?tls=required` (STARTTLS) or `smtp://HOST` (none).
    /// A password is only sent encrypted, except to a server on this machine.
    pub fn new(smtp: &str, from: &str, to: &str, login: Option<(String, Key)>) -> Result<Self, InvalidChannel> {
        let wrong = |error: lettre::address::AddressError| InvalidChannel(error.to_string());
        let (from, to) = (from.parse::<Mailbox>().map_err(wrong)?, to.parse::<Mailboxes>().map_err(wrong)?);
        let url =
            url::Url::parse(smtp).map_err(|error| InvalidChannel(format!("is no address of a server ({error})")))?;
        let is_known = matches!(url.scheme(), "smtp" | "smtps");
        if !is_known || !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidChannel(
                "must be smtps://HOST or smtp://HOST, without user name and password".to_owned(),
            ));
        }
        let is_encrypted = url.scheme() == "smtps" || url.query() == Some("tls=required");
        if login.is_some() && !is_encrypted && !url.host_str().is_some_and(|host| LOOPBACK.contains(&host)) {
            return Err(InvalidChannel(
                "would send the password for all to read: write smtps://HOST, or smtp://HOST?tls=required".to_owned(),
            ));
        }
        #[cfg(feature = "network")]
        let server =
            AsyncSmtpTransport::<Tokio1Executor>::from_url(smtp).map_err(|error| InvalidChannel(chain(&error)))?;
        #[cfg(feature = "network")]
        let server = match login {
            Some((user, password)) => server.credentials(Credentials::new(user, password.reveal().to_owned())),
            None => server,
        };
        #[cfg(feature = "network")]
        let server = server.timeout(Some(TRY_TIMEOUT)).build();
        Ok(Self {
            #[cfg(feature = "network")]
            server,
            from,
            to,
        })
    }

    /// Whether the text is one address, with a name or without.
    pub fn is_mailbox(text: &str) -> bool {
        text.parse::<Mailbox>().is_ok()
    }

    /// Whether the text is one or more addresses, separated by commas.
    pub fn are_mailboxes(text: &str) -> bool {
        text.parse::<Mailboxes>().is_ok_and(|all| all.iter().next().is_some())
    }

    /// One attempt.
    #[cfg(feature = "network")]
    pub(super) async fn send(&self, notice: &Notice) -> Result<(), String> {
        let builder = Message::builder().from(self.from.clone()).message_id(None).subject(notice.subject());
        let builder = self.to.clone().into_iter().fold(builder, MessageBuilder::to);
        let message = builder.header(ContentType::TEXT_PLAIN).body(notice.text()).map_err(|error| chain(&error))?;
        match tokio::time::timeout(TRY_TIMEOUT, self.server.send(message)).await {
            Ok(sent) => sent.map(drop).map_err(|error| chain(&error)),
            Err(_) => Err(format!("the server did not take it within {} s", TRY_TIMEOUT.as_secs())),
        }
    }
}

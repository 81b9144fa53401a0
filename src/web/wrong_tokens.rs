//! Counts wrong tokens by their origin: after several of them no other token from there is checked for a while.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The most wrong tokens of one address that are checked within a window.
const MOST_WRONG: u32 = 20;
const WINDOW: Duration = Duration::from_mins(1);
/// Addresses that are remembered.
const MOST_ADDRESSES: usize = 4_096;

/// Wrong tokens by address.
#[derive(Debug, Default)]
pub(super) struct WrongTokens {
    by_address: Mutex<HashMap<IpAddr, WrongOfAddress>>,
}

#[derive(Clone, Copy, Debug)]
struct WrongOfAddress {
    since: Instant,
    count: u32,
}

/// Which wrong token it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrongAttempt {
    /// The first one within the window.
    First,
    Further,
    /// The last one that is checked within the window.
    Last {
        wrong: u32,
    },
}

impl WrongTokens {
    /// The time for which no token of that address is checked; none: tokens are checked.
    pub(super) fn wait(&self, address: IpAddr) -> Option<Duration> {
        let known = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let wrong = known.get(&network(address)).filter(|wrong| wrong.count >= MOST_WRONG)?;
        WINDOW.checked_sub(wrong.since.elapsed())
    }

    /// Counts one.
    pub(super) fn add(&self, address: IpAddr) -> WrongAttempt {
        let mut known = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_ADDRESSES {
            known.retain(|_, wrong| wrong.since.elapsed() < WINDOW);
        }
        if known.len() >= MOST_ADDRESSES {
            known.clear();
        }
        let fresh = WrongOfAddress { since: Instant::now(), count: 0 };
        let wrong = known.entry(network(address)).or_insert(fresh);
        if wrong.since.elapsed() >= WINDOW {
            *wrong = fresh;
        }
        wrong.count += 1;
        match wrong.count {
            1 => WrongAttempt::First,
            MOST_WRONG => WrongAttempt::Last { wrong: MOST_WRONG },
            _ => WrongAttempt::Further,
        }
    }
}

/// One person's usual range: an address, or an IPv6 prefix (RFC 6177, <https://www.rfc-editor.org/rfc/rfc6177>).
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_some_wrong_tokens_no_other_of_the_network_is_looked_at() {
        let wrong = WrongTokens::default();
        let [here, beside, elsewhere]: [IpAddr; 3] =
            ["2001:db8::1", "2001:db8::2", "::ffff:10.0.0.1"].map(|text| text.parse().unwrap());
        let attempts: Vec<WrongAttempt> = (0..MOST_WRONG).map(|_| wrong.add(here)).collect();
        assert_eq!((attempts[0], attempts[1]), (WrongAttempt::First, WrongAttempt::Further));
        assert_eq!(attempts.last(), Some(&WrongAttempt::Last { wrong: MOST_WRONG }));
        assert!(wrong.wait(beside).is_some_and(|wait| wait <= WINDOW));
        assert_eq!(wrong.wait(elsewhere), None);
    }

    #[test]
    fn however_many_addresses_come_the_memory_is_bounded() {
        let wrong = WrongTokens::default();
        for number in 0..3 * u32::try_from(MOST_ADDRESSES).unwrap() {
            wrong.add(IpAddr::V4(number.into()));
        }
        assert!(wrong.by_address.lock().unwrap().len() <= MOST_ADDRESSES);
    }
}

//! What goes wrong, and how often. The same seed goes wrong in the same way, request by request.

/// One way in which a request is answered badly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mishap {
    /// 429 with `retry-after` in seconds.
    RateSeconds,
    /// 429 with `retry-after` as a date.
    RateDate,
    /// 429 without a word on when.
    RateBare,
    /// 500 in the vendor's words.
    Error500,
    /// 502 with a proxy's HTML.
    Html502,
    Unavailable503,
    Overloaded529,
    /// Nothing at all is answered, until the client goes away.
    HangBefore,
    /// The stream begins, and nothing more comes until the client goes away.
    HangWithin,
    /// The connection is closed at any byte of the body.
    Cut,
    /// The chunks end as they should, but the format's mark of a whole reply never came.
    EndedEarly,
    /// One event is half of its JSON.
    MalformedEvent,
    /// The size of a chunk is no number.
    GarbledChunk,
    /// The only call is of a tool that nobody has.
    UnknownTool,
    /// Neither text nor calls.
    Empty,
    /// The first call comes twice with its id.
    SameId,
    /// The first call comes twice under two ids.
    SameCall,
    /// The last call's arguments end in the middle.
    TornArguments,
    /// 400: the prompt is too long for the model.
    Overflow,
    /// The reply is cut at the token limit, its last call torn.
    CutAtLength,
    /// Words instead of calls.
    Prose,
    /// The first call, written as text.
    CallAsText,
    /// 200 with a page of HTML.
    WrongType,
    /// 200 with an error as its body.
    ErrorBody,
    /// The stream begins and goes on with an error.
    ErrorEvent,
    /// A sound reply in many small pieces with pauses between.
    Trickle,
    /// 429: the tier that is cheap has no room. Only what asks for that tier is hit.
    NoFlex,
    /// 400: a thought is bound to a different conversation. Only what brings thoughts back is hit.
    Bound,
}

impl Mishap {
    /// Those that may hit any request.
    pub(crate) const ALL: [Self; 26] = [
        Self::RateSeconds,
        Self::RateDate,
        Self::RateBare,
        Self::Error500,
        Self::Html502,
        Self::Unavailable503,
        Self::Overloaded529,
        Self::HangBefore,
        Self::HangWithin,
        Self::Cut,
        Self::EndedEarly,
        Self::MalformedEvent,
        Self::GarbledChunk,
        Self::UnknownTool,
        Self::Empty,
        Self::SameId,
        Self::SameCall,
        Self::TornArguments,
        Self::Overflow,
        Self::CutAtLength,
        Self::Prose,
        Self::CallAsText,
        Self::WrongType,
        Self::ErrorBody,
        Self::ErrorEvent,
        Self::Trickle,
    ];
}

/// What goes wrong at a mixed night: kinds, of which each gets its own share.
const NIGHT: [&[Mishap]; 11] = [
    &[Mishap::RateSeconds, Mishap::RateDate, Mishap::RateBare],
    &[Mishap::Error500, Mishap::Html502, Mishap::Unavailable503, Mishap::Overloaded529],
    &[Mishap::HangBefore, Mishap::HangWithin],
    &[Mishap::Cut, Mishap::EndedEarly, Mishap::GarbledChunk],
    &[Mishap::MalformedEvent, Mishap::TornArguments],
    &[Mishap::UnknownTool],
    &[Mishap::Empty, Mishap::Prose, Mishap::CallAsText],
    &[Mishap::SameId, Mishap::SameCall],
    &[Mishap::Overflow],
    &[Mishap::CutAtLength],
    &[Mishap::WrongType, Mishap::ErrorBody, Mishap::ErrorEvent, Mishap::Trickle],
];

/// How often what goes wrong. `Debug` shows the seed: a failing test prints it.
#[derive(Clone, Debug)]
pub(crate) struct Chaos {
    pub(crate) seed: u64,
    /// Each kind with its share in percent; within a kind, chance says which.
    kinds: Vec<(Vec<Mishap>, u64)>,
    /// So many more, at most.
    left: u64,
    chance: Chance,
}

impl Chaos {
    pub(crate) fn none() -> Self {
        Self::of(Vec::new(), 0)
    }

    /// One mishap alone, at so many percent of the requests.
    pub(crate) fn only(mishap: Mishap, percent: u64, seed: u64) -> Self {
        Self::of(vec![(vec![mishap], percent)], seed)
    }

    /// Everything mixed, each kind at 5 to 20 percent.
    pub(crate) fn night(seed: u64) -> Self {
        let mut shares = Chance::new(!seed);
        let kinds = NIGHT.iter().map(|kind| (kind.to_vec(), 5 + shares.below(16))).collect();
        Self::of(kinds, seed)
    }

    /// Kinds with shares of one's own.
    pub(crate) fn of(kinds: Vec<(Vec<Mishap>, u64)>, seed: u64) -> Self {
        Self { seed, kinds, left: u64::MAX, chance: Chance::new(seed) }
    }

    /// The same, but no more than so many times.
    pub(crate) fn at_most(self, left: u64) -> Self {
        Self { left, ..self }
    }

    /// What happens to the next request, of those that `may` hit it.
    pub(crate) fn draw(&mut self, may: impl Fn(Mishap) -> bool) -> Option<Mishap> {
        let mut hit = None;
        for (kind, percent) in &self.kinds {
            // Every kind is drawn for each request: where one was hit, the others go on as without it.
            let (is_hit, which) = (self.chance.below(100) < *percent, self.chance.below(kind.len() as u64));
            if is_hit && hit.is_none() {
                hit = kind.get(usize::try_from(which).unwrap()).copied();
            }
        }
        let hit = hit.filter(|hit| self.left > 0 && may(*hit));
        self.left -= u64::from(hit.is_some());
        hit
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.chance.below(bound as u64)).unwrap()
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same everywhere.
#[derive(Clone, Debug)]
struct Chance(u64);

impl Chance {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Below `bound`; 0 where that is 0.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)).checked_rem(bound).unwrap_or(0)
    }
}

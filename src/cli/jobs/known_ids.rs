//! The shortest form of a job's id for typing: its beginning, or its end if jobs created together begin alike.

/// Characters of a beginning.
const BEGINNING: usize = 8;
/// Characters of an end, at least.
const LEAST_END: usize = 6;

/// The ids of all jobs and batches.
#[derive(Clone, Debug, Default)]
pub(in crate::cli) struct KnownIds {
    /// Sorted.
    ids: Vec<String>,
    /// The same ids reversed; sorted.
    backwards: Vec<String>,
}

impl KnownIds {
    pub(in crate::cli) fn new(mut ids: Vec<String>) -> Self {
        ids.sort();
        let mut backwards: Vec<String> = ids.iter().map(|id| id.chars().rev().collect()).collect();
        backwards.sort();
        Self { ids, backwards }
    }

    /// The shortest beginning or end of `id` that fits no other id.
    pub(in crate::cli) fn short<'i>(&self, id: &'i str) -> &'i str {
        let beginning = shortest(id, &self.ids, BEGINNING);
        if beginning <= BEGINNING {
            return &id[..beginning];
        }
        let backwards: String = id.chars().rev().collect();
        let end = shortest(&backwards, &self.backwards, LEAST_END);
        // An end that is also the beginning of another id would be taken for that beginning.
        let end = (end..id.len()).find(|end| !self.is_beginning(&id[id.len() - end..])).unwrap_or(id.len());
        if end < beginning { &id[id.len() - end..] } else { &id[..beginning] }
    }

    fn is_beginning(&self, text: &str) -> bool {
        let place = self.ids.partition_point(|id| id.as_str() < text);
        text.starts_with('-') || self.ids.get(place).is_some_and(|id| id.starts_with(text))
    }
}

/// The length of the shortest unique beginning of `id` among the sorted `ids`; its last character is a letter or digit.
fn shortest(id: &str, ids: &[String], least: usize) -> usize {
    let place = ids.partition_point(|other| other.as_str() < id);
    let shared = [place.checked_sub(1), Some(place + 1)]
        .into_iter()
        .flatten()
        .filter_map(|place| ids.get(place))
        .map(|other| id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count())
        .max()
        .unwrap_or(0);
    let mut end = (shared + 1).max(least).min(id.len());
    while id.as_bytes().get(end - 1) == Some(&b'-') && end < id.len() {
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::KnownIds;

    #[test]
    fn an_id_is_as_short_as_it_can_be_told_from_others() {
        let ids = [
            "01935b7c-1234-7000-8000-000000000000",
            "01935b7c-1234-7000-8000-000000000001",
            "01935b7c-1235-7000-8000-000000000000",
            "01935b80-0000-7000-8000-000000000000",
            "01a35b80-0000-7000-8000-000000000000",
            "01b35b80-1234-7abc-8000-00aa0001935b",
            "01b35b80-1234-7abc-8000-00ab55e81f30",
        ]
        .map(str::to_owned);
        let known = KnownIds::new(ids.to_vec());
        let shorts: Vec<&str> = ids.iter().map(|id| known.short(id)).collect();
        assert_eq!(
            shorts,
            ["4-7000-8000-000000000000", "000001", "01935b7c-1235", "01935b80", "01a35b80", "001935b", "e81f30"]
        );
        assert_eq!(KnownIds::new(vec!["01935b7c-1234".to_owned()]).short("01935b7c-1234"), "01935b7c");
    }
}

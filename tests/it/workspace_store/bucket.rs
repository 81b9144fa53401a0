//! A server that speaks as much of S3's protocol as a workspace store needs: objects in one bucket, in memory.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

/// What lies in the bucket, by key.
pub(super) type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// A bucket called `nights`.
pub(super) struct Bucket {
    pub(super) address: String,
    pub(super) objects: Objects,
    /// Answers that it is busy, whatever is asked.
    pub(super) is_busy: Arc<AtomicBool>,
}

impl Bucket {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (objects, is_busy): (Objects, Arc<AtomicBool>) = Default::default();
        let (kept, busy) = (objects.clone(), is_busy.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, busy) = (kept.clone(), busy.clone());
                // It ends with the connection, which ends with the program.
                std::thread::spawn(move || serve(stream, &kept, &busy));
            }
        });
        Self { address, objects, is_busy }
    }

    /// What a program needs to know of it.
    pub(super) fn variables(&self) -> Vec<(&str, &str)> {
        vec![
            ("AWS_ENDPOINT_URL", &self.address),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "id"),
            ("AWS_SECRET_ACCESS_KEY", "planted"),
        ]
    }
}

fn serve(stream: TcpStream, objects: &Objects, is_busy: &AtomicBool) {
    let mut stream = BufReader::new(stream);
    while let Some((line, body)) = request(&mut stream) {
        let mut words = line.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let key = path.strip_prefix("/nights").unwrap().trim_start_matches('/').to_owned();
        let mut all = objects.lock().unwrap();
        let (status, answer) = if is_busy.load(Ordering::SeqCst) {
            (503, b"<Error><Code>ServiceUnavailable</Code></Error>".to_vec())
        } else {
            match method {
                "PUT" => {
                    all.insert(key, body);
                    (200, Vec::new())
                }
                "GET" if key.is_empty() => (200, list(&all, query).into_bytes()),
                "GET" => match all.get(&key) {
                    Some(content) => (200, content.clone()),
                    None => (404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
                },
                "POST" => {
                    let text = String::from_utf8(body).unwrap();
                    let named = text.split("<Key>").skip(1).map(|rest| rest.split("</Key>").next().unwrap().to_owned());
                    let mut gone = String::new();
                    for key in named {
                        all.remove(&key);
                        write!(gone, "<Deleted><Key>{key}</Key></Deleted>").unwrap();
                    }
                    (200, format!("<DeleteResult>{gone}</DeleteResult>").into_bytes())
                }
                _ => (501, Vec::new()),
            }
        };
        drop(all);
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {}\r\netag: \"x\"\r\nlast-modified: Sat, 21 Nov 2020 03:14:07 GMT\r\n\r\n",
            answer.len()
        );
        let stream = stream.get_mut();
        if stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&answer)).is_err() {
            return;
        }
    }
}

/// The first line and the body of the next request; none: the connection is closed.
fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut first = String::new();
    if stream.read_line(&mut first).unwrap_or(0) == 0 {
        return None;
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some((first, body))
}

/// What lies directly in a folder, two at a time, so that lists have pages.
fn list(all: &BTreeMap<String, Vec<u8>>, query: &str) -> String {
    let parameters: BTreeMap<&str, String> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name, value.replace("%2F", "/")))
        .collect();
    let prefix = parameters.get("prefix").cloned().unwrap_or_default();
    let after = parameters.get("continuation-token").cloned().unwrap_or_default();
    let mut lines = BTreeSet::new();
    for (key, content) in all.iter().filter(|(key, _)| key.starts_with(&prefix)) {
        match key[prefix.len()..].split_once('/') {
            Some((folder, _)) => lines.insert((format!("{prefix}{folder}/"), None)),
            None => lines.insert((key.clone(), Some(content.len()))),
        };
    }
    let rest: Vec<_> = lines.into_iter().filter(|(key, _)| *key > after).collect();
    let mut text = String::from("<ListBucketResult>");
    for (key, bytes) in rest.iter().take(2) {
        match bytes {
            None => write!(text, "<CommonPrefixes><Prefix>{key}</Prefix></CommonPrefixes>").unwrap(),
            Some(bytes) => write!(
                text,
                "<Contents><Key>{key}</Key><Size>{bytes}</Size><LastModified>2020-11-21T03:14:07.000Z</LastModified></Contents>"
            )
            .unwrap(),
        }
    }
    if rest.len() > 2 {
        write!(text, "<NextContinuationToken>{}</NextContinuationToken>", rest[1].0).unwrap();
    }
    text + "</ListBucketResult>"
}

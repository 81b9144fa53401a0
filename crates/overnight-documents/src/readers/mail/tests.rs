//! Mails written here, and the texts read from them.

use std::fmt::Write;
use std::io::{Cursor, Write as _};

use cfb::CompoundFile;

use crate::container::{Members, members, take};
use crate::extract::{detect, extract};
use crate::readers::package::sample::damaged;
use crate::{Extracted, Format, Unit};

fn read(name: &str, bytes: &[u8]) -> Extracted {
    extract(name, bytes).unwrap()
}

fn gaps(read: &Extracted) -> Vec<String> {
    read.gaps.iter().map(ToString::to_string).collect()
}

fn inside(name: &str, bytes: &[u8]) -> Vec<(String, String)> {
    let Members { members, left_out, is_document } = members(name, bytes).unwrap();
    assert!(is_document);
    assert_eq!(left_out, []);
    let content = |path: &[String]| String::from_utf8_lossy(&take(name, bytes, path).unwrap()).into_owned();
    members.into_iter().map(|member| (member.path.join(" > "), content(&member.path))).collect()
}

const FORWARDED: &str = "\
From: =?utf-8?q?J=C3=B6rg?= <j@example.org>\r
To: Ann Example <ann@example.org>,\r
 \"Bob, B.\" <bob@example.org>\r
Cc: undisclosed:;\r
Date: Mon, 3 Mar 2025 10:00:00 +0100\r
Subject: =?iso-8859-1?Q?Gr=F6=DFe?= of\r
 the offer\r
MIME-Version: 1.0\r
Content-Type: multipart/mixed; boundary=\"a b\"\r
\r
Not shown.\r
--a b\r
Content-Type: multipart/alternative; boundary=alt\r
\r
--alt\r
Content-Type: text/plain; charset=iso-8859-1\r
Content-Transfer-Encoding: quoted-printable\r
\r
The fee is 5 =A3, and=20\r
no more.\r
\r
> Old text\r
--alt\r
Content-Type: text/html\r
\r
<p>The fee in HTML</p>\r
--alt--\r
\r
--a b\r
Content-Type: application/pdf\r
Content-Transfer-Encoding: base64\r
\r
JVBERi0x\r
--a b\r
Content-Type: text/plain; name=\"../notes.txt\"\r
Content-Disposition: attachment\r
\r
Notes\r
--a b\r
Content-Type: image/png; name=logo.png\r
Content-ID: <logo>\r
Content-Transfer-Encoding: base64\r
\r
iVBORw0K\r
--a b\r
Content-Type: message/rfc822\r
\r
From: c@example.org\r
Subject: Inner\r
Date: today\r
Content-Type: multipart/mixed; boundary=b2\r
\r
--b2\r
\r
Inner text\r
--b2\r
Content-Disposition: attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe.csv\r
\r
1,2\r
--b2--\r
--a b--\r
";

#[test]
fn a_mail_is_its_header_its_text_and_a_list_of_what_was_attached() {
    let read = read("a.eml", FORWARDED.as_bytes());
    assert_eq!((read.format, read.unit, gaps(&read), read.notes), (Format::Mail, Unit::Line, vec![], vec![]));
    let inner = FORWARDED.len() - FORWARDED.find("From: c@").unwrap() - "\r\n--a b--\r\n".len();
    let expected = format!(
        "From: Jörg <j@example.org>\n\
         To: Ann Example <ann@example.org>, Bob, B. <bob@example.org>\n\
         Cc: undisclosed: ;\n\
         Date: Mon, 3 Mar 2025 10:00:00 +0100\n\
         Subject: Größe of the offer\n\
         \n\
         The fee is 5 £, and \nno more.\n\n> Old text\n\
         \n\
         Attachments:\n\
         \n\
         - attachment-1.pdf (application/pdf, 6 bytes)\n\
         - .._notes.txt (text/plain, 5 bytes)\n\
         - Inner.eml (message/rfc822, {inner} bytes)\n"
    );
    assert_eq!(read.text, expected.replace(".._notes", "__notes"));
    let found = inside("a.eml", FORWARDED.as_bytes());
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["attachment-1.pdf", "__notes.txt", "Inner.eml", "Inner.eml > Größe.csv"]);
    assert_eq!([&found[0].1, &found[1].1, &found[3].1], ["%PDF-1", "Notes", "1,2"]);
    assert_eq!(self::read("x", found[2].1.as_bytes()).text.lines().next(), Some("From: c@example.org"));
}

#[test]
fn a_mail_is_known_by_how_it_begins() {
    let known = |name: &str, bytes: &str| detect(name, bytes.as_bytes()).unwrap();
    assert_eq!(known("a.txt", FORWARDED), Format::Mail);
    assert_eq!(known("a.txt", "Received: from x\n by y\nMessage-ID: <1>\nSubject: s\n\nText"), Format::Mail);
    assert_eq!(known("a.txt", "From: a\nTo: b\nSubject: c\nDate: d\n\nText"), Format::Mail);
    assert_eq!(known("a.txt", "From: a\nARC-Seal: i=1\nDate: d\n\nText"), Format::Mail);
    for text in [
        "From: here\nTo: there\n\nA travel diary.",
        "Subject: the fee\n\nIt is 5.",
        "Note: a text\nDate: today\nFrom: me\nbut this is prose.",
        "Usage: x\nOptions: y\nFrom: z\nDate: d\nMore: m\nOther: o\n",
        "From here on, it is 10:00 in 1996 and more.",
        "From 1234567890123456789012345678901234567890 Mon Sep 17 00:00:00 2001\nFrom: A <a@b>\nDate: x\nSubject: [PATCH]\n",
    ] {
        assert_eq!(known("a.txt", text), Format::Text, "{text}");
    }
    assert_eq!(read("a.eml", b"Only a text").text, "Only a text");
}

#[test]
fn html_is_read_where_there_is_no_plain_text() {
    let mail = |plain: &str| {
        format!(
            "From: a@b\nDate: d\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\n{plain}\n--x\n\
             Content-Type: multipart/related; boundary=y\n\n--y\nContent-Type: text/html; charset=koi8-r\n\
             Content-Transfer-Encoding: 8bit\n\n<h1>Offer</h1><p>The <b>fee</b>\n--y\nContent-Type: image/png\n\
             Content-ID: <1>\n\nx\n--y--\n--x--\n"
        )
    };
    assert_eq!(read("a.eml", mail(" ").as_bytes()).text, "From: a@b\nDate: d\n\n# Offer\n\nThe fee\n");
    assert_eq!(read("a.eml", mail("Plain").as_bytes()).text, "From: a@b\nDate: d\n\nPlain\n");
}

#[test]
fn what_is_encrypted_is_a_gap() {
    let mail = |media: &str| format!("From: a@b\nSubject: s\nContent-Type: {media}\n\n--x\n\nVersion: 1\n--x--\n");
    for (media, why) in [
        ("multipart/encrypted; boundary=x", "it is encrypted (PGP): give its text"),
        ("application/pkcs7-mime; smime-type=enveloped-data", "it is encrypted (S/MIME): give its text"),
        (
            "application/pkcs7-mime; smime-type=signed-data",
            "it is packed in its signature (S/MIME): save it without the signature",
        ),
    ] {
        let read = read("a.eml", mail(media).as_bytes());
        assert_eq!((read.text.as_str(), gaps(&read)), ("From: a@b\nSubject: s\n\n\n", vec![why.to_owned()]));
    }
    let inline = read("a.eml", b"From: a@b\n\n-----BEGIN PGP MESSAGE-----\nxx\n");
    assert_eq!(gaps(&inline), ["a part of it is encrypted (PGP): give its text"]);
}

#[test]
fn characters_of_any_encoding_are_read() {
    let text = |charset: &str, body: &[u8]| {
        let mut mail = format!("From: a@b\nContent-Type: text/plain{charset}\n\n").into_bytes();
        mail.extend_from_slice(body);
        read("a.eml", &mail).text.replace("From: a@b\n\n", "")
    };
    assert_eq!(text("; charset=koi8-r", b"\xf0\xd2\xc9\xd7\xc5\xd4"), "Привет\n");
    assert_eq!(text("; charset=utf-7", b"Gr+APYA3w-e"), "Größe\n");
    assert_eq!(text("; charset=shift_jis", b"\x93\xfa\x96\x7b"), "日本\n");
    assert_eq!(text("; charset=unknown", "Größe".as_bytes()), "Größe\n");
    let raw =
        read("a.eml", b"From: J\xf6rg M\xfcller <j@example.org>\nSubject: Gr\xf6\xdfe der Fl\xe4che\nDate: x\n\nx");
    assert!(raw.text.starts_with("From: Jörg Müller <j@example.org>\n"), "{}", raw.text);
}

#[test]
fn a_mailbox_has_a_mail_on_each_page() {
    let mailbox = "From a@b Sat Jan  3 01:05:34 2026\nFrom: a@b\nSubject: one\n\nText\n>From here\n>>From there\n\n\
                   From c@d Sun Jan  4 01:05:34 2026\nFrom: c@d\nSubject: two\nContent-Type: multipart/mixed; boundary=x\n\n\
                   --x\n\nText\n--x\nContent-Disposition: attachment; filename=a.txt\n\nA\n--x--\n";
    let read = read("inbox", mailbox.as_bytes());
    assert_eq!((read.format, read.unit), (Format::Mail, Unit::Page));
    let expected = "From: a@b\nSubject: one\n\nText\nFrom here\n>From there\n\x0c\
                    From: c@d\nSubject: two\n\nText\n\nAttachments:\n\n- a.txt (text/plain, 1 byte)\n";
    assert_eq!(read.text, expected);
    assert_eq!(inside("inbox", mailbox.as_bytes()), [("mail-2/a.txt".to_owned(), "A".to_owned())]);
}

/// A mail as Outlook saves it.
fn outlook(streams: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (path, content) in streams {
        if let Some((folder, _)) = path.rsplit_once('/') {
            file.create_storage_all(folder).unwrap();
        }
        file.create_stream(path).unwrap().write_all(content).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn properties(header: usize, values: &[(u16, u64)]) -> Vec<u8> {
    let mut bytes = vec![0; header];
    for (id, value) in values {
        bytes.extend([0x40, 0]);
        bytes.extend(id.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

#[test]
fn a_mail_of_outlook_is_read_as_any_other() {
    let bytes = outlook(&[
        ("/__properties_version1.0", &properties(32, &[(0x3ffd, 1251), (0x39, 133_536_886_200_000_000)])),
        ("/__substg1.0_0037001F", &wide("Größe")),
        ("/__substg1.0_0C1A001F", &wide("Jörg")),
        ("/__substg1.0_5D01001F", &wide("j@example.org")),
        ("/__substg1.0_0E04001E", b"\xc0\xed\xed\xe0\0"),
        ("/__substg1.0_1000001F", &wide("The fee is 5.\r\n")),
        ("/__attach_version1.0_#00000000/__substg1.0_37010102", b"%PDF-1"),
        ("/__attach_version1.0_#00000000/__substg1.0_3707001F", &wide("offer.pdf")),
        ("/__attach_version1.0_#00000000/__substg1.0_370E001F", &wide("application/pdf")),
        ("/__attach_version1.0_#00000001/__substg1.0_3001001F", &wide("Inner")),
        ("/__attach_version1.0_#00000001/__substg1.0_3701000D/__properties_version1.0", &properties(24, &[(0x39, 0)])),
        ("/__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_10130102", b"<p>Inner <b>text</b>"),
        ("/__attach_version1.0_#00000001/__substg1.0_3701000D/__recip_version1.0_#00000000/__substg1.0_3001001F", b""),
    ]);
    assert_eq!(detect("a.txt", &bytes), Ok(Format::Mail));
    let whole = read("a.msg", &bytes);
    let found = inside("a.msg", &bytes);
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["offer.pdf", "Inner.msg"]);
    let inner = take("a.msg", &bytes, &["Inner.msg".to_owned()]).unwrap();
    assert_eq!(take("a.msg", &bytes, &["Inner.msg".to_owned()]), Ok(inner.clone()), "the same each time");
    let expected = format!(
        "From: Jörg <j@example.org>\nTo: Анна\nDate: 2024-02-29 13:57 UTC\nSubject: Größe\n\nThe fee is 5.\n\n\
         Attachments:\n\n- offer.pdf (application/pdf, 6 bytes)\n- Inner.msg (application/vnd.ms-outlook, {} KiB)\n",
        inner.len() >> 10
    );
    assert_eq!(whole.text, expected);
    assert_eq!(read("Inner.msg", &inner).text, "Date: 1601-01-01 00:00 UTC\n\nInner text\n");
    let rtf = outlook(&[("/__properties_version1.0", b""), ("/__substg1.0_10090102", b"x")]);
    assert_eq!(gaps(&read("a.msg", &rtf)), ["its text is only there as packed RTF: save the mail as HTML or text"]);
}

#[test]
fn recipients_of_an_outlook_mail_have_their_addresses() {
    let recipient = |at: u8, kind: u64, name: &str, id: &str, address: &str| {
        let folder = format!("/__recip_version1.0_#0000000{at}");
        [
            (format!("{folder}/__properties_version1.0"), properties(8, &[(0xc15, kind)])),
            (format!("{folder}/__substg1.0_3001001F"), wide(name)),
            (format!("{folder}/__substg1.0_{id}001F"), wide(address)),
        ]
    };
    let streams = [
        recipient(0, 1, "Ann", "39FE", "ann@example.org"),
        recipient(1, 2, "Copy", "3003", "copy@example.org"),
        recipient(2, 1, "bob@example.org", "39FE", "bob@example.org"),
        recipient(3, 1, "Carl", "3003", "/O=ORG/CN=CARL"),
        recipient(4, 3, "Blind", "39FE", "blind@example.org"),
    ];
    let mut all: Vec<(&str, &[u8])> =
        streams.as_flattened().iter().map(|(path, content)| (path.as_str(), content.as_slice())).collect();
    let (name, names, exchange) = (wide("Jörg"), wide("Ann; Bob"), wide("/O=ORG/CN=J"));
    let headers = wide("Received: x\r\nFrom: Jo <j@example.org>\r\n");
    all.extend([
        ("/__substg1.0_0C1A001F", name.as_slice()),
        ("/__substg1.0_0C1F001F", &exchange),
        ("/__substg1.0_007D001F", &headers),
        ("/__substg1.0_0E04001F", &names),
        ("/__properties_version1.0", b""),
    ]);
    let head =
        "From: Jo <j@example.org>\nTo: Ann <ann@example.org>, bob@example.org, Carl\nCc: Copy <copy@example.org>\n";
    assert_eq!(read("a.msg", &outlook(&all)).text.trim_end(), head.trim_end());
}

#[test]
fn a_plain_form_that_says_little_is_not_read_for_the_other() {
    let mail = |plain: &str, other: &str| {
        format!(
            "From: a@b\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\n{plain}\n--b\nContent-Type: {other}\n--b--\n"
        )
    };
    let html = format!("text/html\n\n<p>{}</p>", "The keeper must lock the gate. ".repeat(10));
    let text = |plain: &str| read("a.eml", mail(plain, &html).as_bytes()).text;
    assert!(text("To view this, open it in a browser.").contains("The keeper must lock"));
    let same = "The keeper must lock every gate. ".repeat(9);
    assert!(text(&same).contains("every gate") && !text(&same).contains("the gate"));
    // A form with the same content is no attachment, but a single one is.
    assert_eq!(inside("a.eml", mail("Hello", "text/enriched\n\n<b>Hello</b>").as_bytes()), []);
    let alone = "From: a@b\nContent-Type: text/enriched\n\n<bold>The keeper must go.</bold>\n";
    assert_eq!(inside("a.eml", alone.as_bytes()).len(), 1);
}

#[test]
fn text_in_the_head_of_a_mail_is_told() {
    let told = "lines of its head are no part of it, and were left out: an empty line is missing before them";
    assert_eq!(gaps(&read("a.eml", b"From: a@b\nSubject: x\nThe keeper must go.\n")), [told]);
    assert_eq!(gaps(&read("a.eml", b"From: a@b\nSubject: x\n  y\nX-Odd:z\n\nThe keeper must go.\n")), [""; 0]);
}

#[test]
fn a_mail_that_breaks_off_is_told() {
    let head = "From: a@b\nDate: d\nSubject: s\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nThe fee is due.\n";
    assert_eq!(gaps(&read("a.eml", format!("{head}--x--\n").as_bytes())), [""; 0]);
    let cut = read("a.eml", head.as_bytes());
    assert!(cut.text.ends_with("\n\nThe fee is due.\n"));
    assert_eq!(gaps(&cut), ["it breaks off: the end of its last part is missing, and what came behind it"]);
}

#[test]
fn mails_made_to_exhaust_a_reader_are_read_to_a_bound() {
    let deep = |media: &str| {
        let mut mail = "From: a@b\nDate: d\nSubject: s\n".to_owned();
        for n in 0..50_000 {
            write!(mail, "Content-Type: {media}; boundary=b{n}\n\n--b{n}\n").unwrap();
        }
        mail
    };
    let read_deep = read("a.eml", deep("multipart/mixed").as_bytes());
    let cut = "it breaks off: the end of its last part is missing, and what came behind it";
    assert_eq!(gaps(&read_deep), ["its parts lie more than 20 deep in one another", cut]);
    let forwarded = format!("From: a@b\nDate: d\nSubject: s\n{}", "Content-Type: message/rfc822\n\n".repeat(50_000));
    let found = members("a.eml", forwarded.as_bytes()).unwrap();
    assert_eq!(found.members.len(), 4);
    let many = format!(
        "From: a@b\nDate: d\nSubject: s\nContent-Type: multipart/mixed; boundary=x\n\n{}",
        "--x\n\na\n".repeat(100_000)
    );
    assert_eq!(gaps(&read("a.eml", many.as_bytes())), ["it has more than 5,000 parts"]);
    let attached = many.replace("--x\n\n", "--x\nContent-Disposition: attachment\n\n");
    let found = members("a.eml", attached.as_bytes()).unwrap();
    let why =
        |name: &str| (name.to_owned(), "it has more than 5,000 parts: what is behind them is not read".to_owned());
    assert_eq!((found.members.len(), found.left_out), (5_000, vec![why("*")]));
    let headers = format!("From: a@b\n{}\nSubject: s\n\ntext", "X: y\n".repeat(1_000_000));
    assert!(read("a.eml", headers.as_bytes()).text.ends_with("\n\ntext\n"));
    let boundary = "x".repeat(1_000_000);
    let long = format!(
        "From: a@b\nDate: d\nSubject: s\nContent-Type: multipart/mixed; boundary={boundary}\n\n--{boundary}\n\ntext"
    );
    assert!(read("a.eml", long.as_bytes()).text.contains("text"));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]
    /// A mail changed anywhere gives a text or an error sentence, and every document found in it can be read.
    #[test]
    fn changed_mails_never_panic(changes in proptest::collection::vec((0_usize..4000, proptest::num::u8::ANY), 1..16), end in 0_usize..4000) {
        let other = outlook(&[
            ("/__properties_version1.0", &properties(32, &[(0x3ffd, 1251)])),
            ("/__substg1.0_0037001F", &wide("Größe")),
            ("/__attach_version1.0_#00000000/__substg1.0_37010102", b"%PDF-1"),
        ]);
        for original in [FORWARDED.as_bytes(), &other] {
            let bytes = damaged(original, &changes, end);
            let _ = extract("a.eml", &bytes);
            if let Ok(found) = members("a.eml", &bytes) {
                for member in found.members {
                    proptest::prop_assert_eq!(take("a.eml", &bytes, &member.path).unwrap().len() as u64, member.bytes);
                }
            }
        }
    }
}

#[test]
fn a_mail_that_was_saved_in_wide_letters_is_read() {
    let mail = "From: a@example.org\nTo: b@example.org\nDate: Mon, 3 Mar 2031 10:00:00 +0100\nSubject: keys\n\nThe spare key hangs.\n";
    for mark in ["\u{feff}", ""] {
        let bytes: Vec<u8> = format!("{mark}{mail}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        for name in ["a.eml", "a"] {
            let read = read(name, &bytes);
            assert_eq!((read.text.as_str(), gaps(&read), read.notes), (mail, vec![], vec![]), "{name}");
        }
    }
}

//! Data made by hand, and the text of each.

use crate::extract::extract;
use crate::extracted::Extracted;

fn text(name: &str, bytes: &str) -> (String, Vec<String>) {
    let Extracted { text, notes, .. } = extract(name, bytes.as_bytes()).unwrap();
    (text, notes)
}

#[test]
fn json_is_keys_and_values_as_they_are_written() {
    let json = r#"{"party":"Caf\u00e9 \"Zum Turm\"","amount":12345678901234567890.10,"paid":false,
        "items":[{"name":"Lamp","text":"first\nsecond"},[1,2],[],{}],"party":null}"#;
    let expected = "party: Café \"Zum Turm\"\namount: 12345678901234567890.10\npaid: false\nitems:\n  -\n    name: Lamp\n    \
        text: first\n      second\n  -\n    - 1\n    - 2\n  - []\n  - {}\nparty: null\n";
    assert_eq!(text("a.json", json), (expected.to_owned(), vec![]));
    assert_eq!(text("a.jsonl", "{\"a\":1}\n{\"a\":2}\n").0, "a: 1\na: 2\n");
    let broken = (
        "{\"a\":".to_owned(),
        vec!["it is no valid JSON (EOF while parsing a value at line 1 column 5), and stands as it is".to_owned()],
    );
    assert_eq!(text("a.json", "{\"a\":"), broken);
    let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
    assert!(text("a.json", &deep).0.contains("[[[["));
}

#[test]
fn xml_is_text_with_the_names_of_its_elements() {
    let xml = "<?xml version=\"1.0\"?><!DOCTYPE c [<!ENTITY who \"x\">]><c:contract xmlns:c=\"http://x\" id=\"C-1\"><!-- no -->\
        <amount currency=\"EUR\">250.00</amount><empty/><mark on=\"yes\"/><clause>The <b>keeper</b> MUST\n  weigh &amp; record &who;.</clause>\
        <![CDATA[]]><party><name>Ada &lt;A&gt;</name></party></c:contract>";
    let expected = "contract (id: C-1):\n  amount (currency: EUR): 250.00\n  mark (on: yes)\n  clause: The keeper MUST\n      weigh & \
        record &who;.\n  party:\n    name: Ada <A>\n";
    assert_eq!(text("a.xml", xml), (expected.to_owned(), vec![]));
    let feed = "<rss version=\"2.0\"><channel><item><title>News</title><description>&lt;p&gt;The &lt;b&gt;lamp&lt;/b&gt; burns.&lt;/p&gt;\
        </description></item></channel></rss>";
    assert_eq!(
        text("a.rss", feed).0,
        "rss (version: 2.0):\n  channel:\n    item:\n      title: News\n      description: The lamp burns.\n"
    );
    let (kept, notes) = text("a.xml", "<?xml version=\"1.0\"?><a><b>cut");
    assert_eq!(kept, "<?xml version=\"1.0\"?><a><b>cut");
    assert_eq!(notes, ["it is no valid XML (it is cut off), and stands as it is"]);
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>Gr\xf6\xdfe</a>";
    assert_eq!(extract("a.xml", latin).unwrap().text, "a: Größe\n");
    let deep = format!("<?xml version=\"1.0\"?>{}x{}", "<a>".repeat(9_000), "</a>".repeat(9_000));
    assert!(text("a.xml", &deep).0.ends_with("a: x\n"));
}

#[test]
fn a_drawing_is_its_titles_and_texts() {
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"><title>Plan</title><style>.a{}</style><path d=\"M0 0\"/>\
        <text><tspan x=\"1\">Gate</tspan><tspan x=\"9\">North</tspan></text><g><text>La<tspan>mp</tspan></text></g></svg>";
    let note = "a drawing: only its titles and texts were read".to_owned();
    assert_eq!(text("a.svg", svg), ("Plan\nGate North\nLamp\n".to_owned(), vec![note]));
}

#[test]
fn a_notebook_is_its_cells_with_what_they_printed() {
    let notebook = r##"{"nbformat":4,"metadata":{"kernelspec":{"language":"python"}},"cells":[
        {"cell_type":"markdown","source":["# Tides\n","High at *noon*."]},
        {"cell_type":"code","source":"print(1+1)","outputs":[{"output_type":"stream","text":["2\n"]},
          {"output_type":"execute_result","data":{"text/html":"<b>x</b>","text/plain":"x"}},
          {"output_type":"display_data","data":{"image/png":"iVBO"}},
          {"output_type":"error","ename":"ValueError","evalue":"no","traceback":["\u001b[31mno\u001b[0m"]}]}]}"##;
    let expected = "# Tides\nHigh at *noon*.\n\n```python\nprint(1+1)\n```\n\n2\n\nx\n\nValueError: no\n";
    assert_eq!(text("a.ipynb", notebook), (expected.to_owned(), vec!["1 image was left out".to_owned()]));
    assert_eq!(text("a.ipynb", "{\"a\":1}").0, "a: 1\n");
    let broken = b"{\"cells\":[{\"cell_type\":\"markdown\",\"source\":\"Gr\xc3\xb6\xc3\x9fe \xff\"}]}";
    let read = extract("a.ipynb", broken).unwrap();
    let note = "some bytes are not valid UTF-8 and stand as \u{fffd} in the text".to_owned();
    assert_eq!((read.text.as_str(), read.notes), ("Größe \u{fffd}\n", vec![note]));
}

proptest::proptest! {
    #[test]
    fn hostile_data_never_panics(body in "[\\[\\]{}:,\"a1<>/&; =]{0,200}", name in "a\\.(json|xml|svg|ipynb)") {
        let _ = extract(&name, body.as_bytes());
        let _ = extract(&name, format!("<?xml version='1.0'?><svg>{body}").as_bytes());
    }
}

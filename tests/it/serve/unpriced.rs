//! A budget that no price can hold is refused on the page that submits, as by the command.

use super::{Served, jobs};
use crate::cli_run::TestDir;
use reqwest::{Method, StatusCode, header::CONTENT_TYPE};

#[test]
fn a_budget_that_no_price_can_hold_is_refused_on_the_page() {
    let dir = TestDir::new();
    dir.put("overnight.yaml", "model: openai:mine\nbase_url: http://127.0.0.1:9\n");
    let served = Served::start(&dir, &["--as", "Ann"]);
    let send = |budget: &str| {
        let fields = [("token", "bearer"), ("instructions", "extract-requirements"), ("budget_usd", budget)];
        let field = |(name, value): &(&str, &str)| {
            format!("--x\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
        };
        let file =
            "--x\r\ncontent-disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\nThe keeper must sign.\r\n";
        let body = format!("{}{file}--x--\r\n", fields.iter().map(field).collect::<String>());
        let request = served.bare(Method::POST, "/submit").bearer_auth(&served.token);
        request.header(CONTENT_TYPE, "multipart/form-data; boundary=x").body(body).send().unwrap()
    };
    let refused = send("5");
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let told = refused.text().unwrap();
    assert!(told.contains("no price is known for openai:mine, so that the limit of 5.00 USD can"), "{told}");
    let estimate = send("").text().unwrap();
    assert!(estimate.contains("cost unknown: no price is known"), "{estimate}");
    assert!(jobs(&dir).is_empty());
}

mod cli_run;
mod dependencies;
mod machine;
mod offline;
mod plans;
mod store;
mod support;
mod tidy;

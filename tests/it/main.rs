mod cli_audit;
mod cli_run;
mod dependencies;
mod offline;
mod plans;
mod store;
mod support;

mod cli_run;
mod dependencies;
mod plans;
mod store;

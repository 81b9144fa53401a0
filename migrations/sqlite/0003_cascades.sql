-- What was decided and found in the cascade that was begun with a batch (JSON); null: none was, or nothing is decided.
alter table batches add column cascade text;

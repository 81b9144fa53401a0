-- Workspaces in an object store: the manifest of the files as of the last checkpoint, by its name in that store.

alter table jobs add column manifest text;

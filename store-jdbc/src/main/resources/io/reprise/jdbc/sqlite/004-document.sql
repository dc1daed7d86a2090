-- Reprise 004 for SQLite: documents kept beside the jobs (API keys, subscriptions, named policies).

-- Read by kind in the order of the ids. Versions are those of reprise_control: each is greater than all before it, also
-- after a row was deleted and made again.
create table reprise_document (
  kind    text    not null,
  id      text    not null,
  version integer not null check (version > 0),
  json    text    not null,
  primary key (kind, id)
) strict, without rowid;

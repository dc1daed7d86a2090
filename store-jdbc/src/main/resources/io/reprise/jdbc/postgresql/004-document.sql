-- Reprise 004 for PostgreSQL: documents kept beside the jobs (API keys, subscriptions, named policies).

-- Read by kind in the order of the ids' characters, whatever the database's collation. Versions are those of
-- reprise_control: each is greater than all before it, also after a row was deleted and made again.
create table reprise_document (
  kind    text   not null,
  id      text   collate "C" not null,
  version bigint not null check (version > 0),
  json    text   not null,
  primary key (kind, id)
);

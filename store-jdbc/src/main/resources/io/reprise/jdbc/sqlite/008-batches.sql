-- Reprise 008 for SQLite: batches of jobs with a common end.

-- One row for each batch. A transaction that ends members adds its sums here, so it holds the row until it commits. The parent is the
-- job whose handler joins the members, with the name of its step; else both are empty. Jobs name their batch in the column chain.
create table reprise_batch (
  name       text    not null primary key,
  parent     integer,
  step       text,
  total      integer not null default 0,
  succeeded  integer not null default 0,
  dead       integer not null default 0,
  cancelled  integer not null default 0,
  created_at integer not null,
  closed_at  integer,
  ended_at   integer,
  success_at integer,
  on_success integer,
  on_end     integer,
  check (total >= 0 and succeeded >= 0 and dead >= 0 and cancelled >= 0),
  check (succeeded + dead + cancelled <= total),
  check ((parent is null) = (step is null))
) strict, without rowid;

create index reprise_batch_parent on reprise_batch (parent) where parent is not null;

create index reprise_batch_ended on reprise_batch (ended_at) where ended_at is not null and parent is null;

create index reprise_batch_unclosed on reprise_batch (created_at) where closed_at is null and parent is null;

-- The children of joins that have ended, with their results: retention may delete the children first.
create table reprise_member (
  parent integer not null,
  batch  text    not null,
  place  integer not null,
  job_id integer not null,
  state  text    not null,
  result text,
  primary key (parent, batch, place)
) strict, without rowid;

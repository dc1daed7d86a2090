-- Reprise 008 for PostgreSQL: batches of jobs with a common end.

-- One row for each batch. A transaction that ends members adds its sums here, so it holds the row until it commits. The parent is the
-- job whose handler joins the members, with the name of its step; else both are empty. Jobs name their batch in the column chain.
create table reprise_batch (
  name       text   collate "C" not null primary key,
  parent     bigint,
  step       text   collate "C",
  total      bigint not null default 0,
  succeeded  bigint not null default 0,
  dead       bigint not null default 0,
  cancelled  bigint not null default 0,
  created_at bigint not null,
  closed_at  bigint,
  ended_at   bigint,
  success_at bigint,
  on_success bigint,
  on_end     bigint,
  check (total >= 0 and succeeded >= 0 and dead >= 0 and cancelled >= 0),
  check (succeeded + dead + cancelled <= total),
  check ((parent is null) = (step is null))
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

create index reprise_batch_parent on reprise_batch (parent) where parent is not null;

create index reprise_batch_ended on reprise_batch (ended_at) where ended_at is not null and parent is null;

create index reprise_batch_unclosed on reprise_batch (created_at) where closed_at is null and parent is null;

-- The children of joins that have ended, with their results: retention may delete the children first.
create table reprise_member (
  parent bigint  not null,
  batch  text    collate "C" not null,
  place  integer not null,
  job_id bigint  not null,
  state  text    not null,
  result text,
  primary key (parent, batch, place)
);

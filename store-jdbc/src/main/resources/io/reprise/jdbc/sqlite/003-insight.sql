-- Reprise 003 for SQLite: what is counted and known beside the jobs. Few rows, written every few seconds per worker.

-- What the decision after an attempt knew of the next one's chance.
alter table reprise_attempt add column predicted_successes real;

alter table reprise_attempt add column predicted_tries real;

alter table reprise_attempt add column predicted_basis text;

-- How retries ended, by the error they followed; what counts less with age is worth this much at seen_at.
create table reprise_evidence (
  type       text    not null,
  resource   text    not null,
  error      text    not null,
  attempt    integer not null check (attempt between 1 and 10),
  error_type text    not null,
  tries      real    not null check (tries >= 0),
  successes  real    not null check (successes >= 0),
  seen_at    integer not null,
  primary key (type, resource, error, attempt)
) strict;

-- What runs cost, by day and the error they followed.
create table reprise_spending (
  day        integer not null,
  type       text    not null,
  resource   text    not null,
  error      text    not null,
  unit       text    not null,
  error_type text    not null,
  runs       integer not null,
  successes  integer not null,
  amount     real    not null,
  wasted     real    not null,
  primary key (day, type, resource, error, unit)
) strict;

-- How jobs fared, by minute and type.
create table reprise_activity (
  minute     integer not null,
  type       text    not null,
  jobs       integer not null,
  retried    integer not null,
  retries    integer not null,
  dead       integer not null,
  backoff_us integer not null,
  primary key (minute, type)
) strict;

-- Workers that reported and are taken to live until they expire. Lists of names are separated by blanks.
create table reprise_worker (
  name        text    not null primary key,
  queues      text    not null,
  types       text    not null,
  concurrency integer not null,
  holding     integer not null,
  since       integer not null,
  seen_at     integer not null,
  expires_at  integer not null
) strict;

-- Alerts that are raised.
create table reprise_alert (
  kind      text    not null,
  type      text    not null,
  value     real    not null,
  threshold real    not null,
  since     integer not null,
  primary key (kind, type)
) strict;

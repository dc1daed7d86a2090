-- Reprise 003 for PostgreSQL: what is counted and known beside the jobs. Few rows, written every few seconds per worker.

-- What the decision after an attempt knew of the next one's chance.
alter table reprise_attempt add column predicted_successes double precision;

alter table reprise_attempt add column predicted_tries double precision;

alter table reprise_attempt add column predicted_basis text;

-- How retries ended, by the error they followed; what counts less with age is worth this much at seen_at.
create table reprise_evidence (
  type       text             not null,
  resource   text             not null,
  error      text             not null,
  attempt    integer          not null check (attempt between 1 and 10),
  error_type text             not null,
  tries      double precision not null check (tries >= 0),
  successes  double precision not null check (successes >= 0),
  seen_at    bigint           not null,
  primary key (type, resource, error, attempt)
) with (fillfactor = 70);

-- What runs cost, by day and the error they followed.
create table reprise_spending (
  day        bigint           not null,
  type       text             not null,
  resource   text             not null,
  error      text             not null,
  unit       text             not null,
  error_type text             not null,
  runs       bigint           not null,
  successes  bigint           not null,
  amount     double precision not null,
  wasted     double precision not null,
  primary key (day, type, resource, error, unit)
) with (fillfactor = 70);

-- How jobs fared, by minute and type.
create table reprise_activity (
  minute     bigint not null,
  type       text   not null,
  jobs       bigint not null,
  retried    bigint not null,
  retries    bigint not null,
  dead       bigint not null,
  backoff_us bigint not null,
  primary key (minute, type)
) with (fillfactor = 70);

-- Workers that reported and are taken to live until they expire. Lists of names are separated by blanks.
create table reprise_worker (
  name        text    not null primary key,
  queues      text    not null,
  types       text    not null,
  concurrency integer not null,
  holding     integer not null,
  since       bigint  not null,
  seen_at     bigint  not null,
  expires_at  bigint  not null
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 500
);

-- Alerts that are raised.
create table reprise_alert (
  kind      text             not null,
  type      text             not null,
  value     double precision not null,
  threshold double precision not null,
  since     bigint           not null,
  primary key (kind, type)
);

-- Reprise 005 for SQLite: how attempts ended over time, and what breakers went through.

-- Sums of what workers count, by minute and by hour: of each type, queue, resource and error. They take the place of
-- reprise_activity, which had minutes of types only. Some thousand rows at most in each period.
create table reprise_series (
  step       text    not null check (step in ('MINUTE', 'HOUR')),
  subject    text    not null,
  at         integer not null,
  name       text    not null,
  jobs       integer not null,
  succeeded  integer not null,
  failed     integer not null,
  retried    integer not null,
  retries    integer not null,
  dead       integer not null,
  backoff_us integer not null,
  ran_us     integer not null,
  primary key (step, subject, at, name)
) strict, without rowid;

drop table reprise_activity;

-- What breakers and budgets went through: the newest changes of the fleet.
create table reprise_control_event (
  subject text    not null,
  at      integer not null,
  kind    text    not null,
  why     text    not null,
  primary key (subject, at, kind)
) strict, without rowid;

create index reprise_control_event_at on reprise_control_event (at);

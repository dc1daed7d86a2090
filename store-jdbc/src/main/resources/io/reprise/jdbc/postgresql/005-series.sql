-- Reprise 005 for PostgreSQL: how attempts ended over time, and what breakers went through.

-- Sums of what workers count, by minute and by hour: of each type, queue, resource and error. They take the place of
-- reprise_activity, which had minutes of types only. Some thousand rows at most in each period.
create table reprise_series (
  step       text   not null check (step in ('MINUTE', 'HOUR')),
  subject    text   not null,
  at         bigint not null,
  name       text   not null,
  jobs       bigint not null,
  succeeded  bigint not null,
  failed     bigint not null,
  retried    bigint not null,
  retries    bigint not null,
  dead       bigint not null,
  backoff_us bigint not null,
  ran_us     bigint not null,
  primary key (step, subject, at, name)
) with (fillfactor = 70);

drop table reprise_activity;

-- What breakers and budgets went through: the newest changes of the fleet.
create table reprise_control_event (
  subject text   not null,
  at      bigint not null,
  kind    text   not null,
  why     text   not null,
  primary key (subject, at, kind)
);

create index reprise_control_event_at on reprise_control_event (at);

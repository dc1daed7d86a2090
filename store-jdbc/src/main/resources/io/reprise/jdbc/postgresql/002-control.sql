-- Reprise 002 for PostgreSQL: shared control state (breakers, budgets) and the jobs parked because of it.

-- Lanes 3 to 5 are parked: what was in lane 0, 1 or 2 before. No claim looks there. A parked job names what it waits for.
alter table reprise_job add column parked_by text;

-- Names of what jobs are parked by, and the earliest due of each.
create index reprise_job_parked on reprise_job (parked_by, due_at, id) where parked_by is not null;

-- Each version is greater than all before it, also after a row was deleted and made again.
create sequence reprise_control_version;

-- Written a few times a second while there is trouble.
create table reprise_control (
  name    text   not null primary key,
  version bigint not null check (version > 0),
  state   text   not null
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 200,
  autovacuum_vacuum_cost_delay = 0
);

-- What was changed since a worker last looked.
create index reprise_control_changed on reprise_control (version);

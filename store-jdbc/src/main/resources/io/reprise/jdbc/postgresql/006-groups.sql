-- Reprise 006 for PostgreSQL: groups of jobs take turns.

alter table reprise_job add column job_group text collate "C";

alter table reprise_job add column turn_for bigint;

-- The turn is the group of a job that was due when it was stored, or that was given its turn for this due time. Else it is
-- empty, also of suspects and parked jobs: many delayed jobs of many groups are one range, which a claim need not walk.
alter table reprise_job add column turn text collate "C" not null generated always as (
  case when job_group is not null and lane < 2 and (wait_reason = 'NEW' or turn_for = due_at) then job_group else '' end) stored;

drop index reprise_job_ready;

-- The claim: equality on queue, lane, priority and turn, then due entries only; or jumps from turn to turn.
create index reprise_job_ready on reprise_job (queue, lane, priority desc, turn, due_at, id);

-- Delayed jobs and retries of groups: a backlog of them is given turns.
create index reprise_job_late on reprise_job (due_at, id) where job_group is not null and turn = '' and lane < 2;

alter table reprise_finished add column job_group text;

alter table reprise_schedule add column job_group text;

create or replace view reprise_show_live as
select j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       case when l.token is null then 'PENDING' else 'RUNNING' end as state,
       case when l.token is null then j.wait_reason end as wait_reason,
       null::text as fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       null::text as result, l.worker, l.token as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, case when l.token is null then j.due_at end as due_at, j.deadline,
       l.claimed_at as started_at, null::bigint as finished_at, j.last_delay_us, j.job_group
  from reprise_job j
  left join lateral (
    select h.id as token, h.worker, h.claimed_at
      from reprise_lease h
     where h.queue = j.queue and h.id > j.token and j.id = any (h.ids)
     limit 1
  ) l on true;

create or replace view reprise_show_running as
select h.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       'RUNNING' as state, null::text as wait_reason,
       null::text as fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       null::text as result, h.worker, h.token as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, null::bigint as due_at, j.deadline,
       h.claimed_at as started_at, null::bigint as finished_at, j.last_delay_us, j.job_group
  from reprise_held h
  cross join lateral (
    select * from reprise_job where id = h.id and queue = h.queue and token < h.token offset 0
  ) j;

create or replace view reprise_show_finished as
select f.id, f.queue, f.type, f.priority, f.payload, f.policy, f.delay_us, f.asked_at, f.resource, f.tags, f.unique_key,
       f.key_rule, f.idempotency_key, f.timeout_us, f.schedule, f.chain,
       f.state, null::text as wait_reason, f.fail_reason, f.error_type, f.error_message, f.fingerprint, f.progress,
       f.progress_message, f.result, f.worker, null::bigint as holder, false as cancel_requested,
       f.attempts, f.losses, f.interruptions, f.snoozes, f.granted,
       f.created_at, f.first_due_at, null::bigint as due_at, f.deadline,
       f.started_at, f.finished_at, f.last_delay_us, f.job_group
  from reprise_finished f;

-- By queue and group, or the empty name for the whole queue: when the next start would be due at an even rate. Written by claims
-- under the queue's lock, for the groups of their batch only.
create table reprise_rate (
  queue   text   not null,
  name    text   collate "C" not null,
  next_at bigint not null,
  primary key (queue, name)
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);

-- Reprise 006 for SQLite: groups of jobs take turns.

alter table reprise_job add column job_group text;

alter table reprise_job add column turn_for integer;

-- The turn is the group of a job that was due when it was stored, or that was given its turn for this due time. Else it is
-- empty, also of suspects and parked jobs: many delayed jobs of many groups are one range, which a claim need not walk.
alter table reprise_job add column turn text generated always as (
  case when job_group is not null and lane < 2 and (wait_reason = 'NEW' or turn_for = due_at) then job_group else '' end) virtual;

drop index reprise_job_ready;

-- The claim: equality on queue, lane, priority and turn, then due entries only; or jumps from turn to turn.
create index reprise_job_ready on reprise_job (queue, lane, priority desc, turn, due_at) where due_at is not null;

-- Delayed jobs and retries of groups: a backlog of them is given turns.
create index reprise_job_late on reprise_job (due_at)
 where job_group is not null and turn = '' and lane < 2 and due_at is not null;

alter table reprise_schedule add column job_group text;

drop view reprise_show;

create view reprise_show as
select j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       case when l.id is null then j.state else 'RUNNING' end as state,
       case when l.id is null then j.wait_reason end as wait_reason,
       j.fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       j.result, coalesce(l.worker, j.worker) as worker, l.id as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, case when l.id is null then j.due_at end as due_at, j.deadline,
       coalesce(l.claimed_at, j.started_at) as started_at, j.finished_at, j.last_delay_us, j.state as stored, j.job_group
  from reprise_job j
  left join reprise_lease l
    on l.id = (
      select max(h.token)
        from reprise_held h
       where h.queue = j.queue and h.token > j.token and h.id = j.id and j.due_at is not null);

-- By queue and group, or the empty name for the whole queue: when the next start would be due at an even rate. Written by claims
-- under the queue's lock, for the groups of their batch only.
create table reprise_rate (
  queue   text    not null,
  name    text    not null,
  next_at integer not null,
  primary key (queue, name)
) strict, without rowid;

-- Reprise 006 for MySQL and MariaDB: groups of jobs take turns.

-- A definition commits by itself here, and MySQL adds a column only once. So each change looks whether it was made before.
-- The turn is the group of a job that was due when it was stored, or that was given its turn for this due time. Else it is
-- empty, also of suspects and parked jobs: many delayed jobs of many groups are one range, which a claim need not walk.
-- The claim: equality on queue, lane, priority and turn, then due entries only; or jumps from turn to turn.
-- A job with late_at is a delayed job or a retry of a group: a backlog of them is given turns.
set @change = (
  select case when count(*) = 0 then 'alter table reprise_job
  add column job_group varchar(100),
  add column turn_for bigint,
  add column turn varchar(100) generated always as (
    case when job_group is not null and lane < 2 and (wait_reason = ''NEW'' or turn_for = due_at) then job_group else '''' end) stored,
  add column late_at bigint generated always as (
    case when job_group is not null and lane < 2 and not (wait_reason = ''NEW'' or coalesce(turn_for, -1) = due_at) then due_at end) stored,
  drop index reprise_job_ready,
  add index reprise_job_ready (queue, lane, priority, turn, due_at),
  add index reprise_job_late (late_at)' else 'do 0' end
    from information_schema.columns
   where table_schema = database() and table_name = 'reprise_job' and column_name = 'job_group');

prepare reprise_change from @change;

execute reprise_change;

deallocate prepare reprise_change;

set @change = (
  select case when count(*) = 0 then 'alter table reprise_finished add column job_group varchar(100)' else 'do 0' end
    from information_schema.columns
   where table_schema = database() and table_name = 'reprise_finished' and column_name = 'job_group');

prepare reprise_change from @change;

execute reprise_change;

deallocate prepare reprise_change;

set @change = (
  select case when count(*) = 0 then 'alter table reprise_schedule add column job_group varchar(100)' else 'do 0' end
    from information_schema.columns
   where table_schema = database() and table_name = 'reprise_schedule' and column_name = 'job_group');

prepare reprise_change from @change;

execute reprise_change;

deallocate prepare reprise_change;

create or replace view reprise_show_live as
select j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       convert(case when l.id is null then 'PENDING' else 'RUNNING' end using utf8mb4) collate {collation} as state,
       case when l.id is null then j.wait_reason end as wait_reason,
       null as fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       null as result, l.worker, l.id as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, case when l.id is null then j.due_at end as due_at, j.deadline,
       l.claimed_at as started_at, null as finished_at, j.last_delay_us, j.job_group
  from reprise_job j
  left join (reprise_hold h join reprise_lease l on l.id = h.token) on h.job_id = j.id and h.token > j.token;

create or replace view reprise_show_running as
select j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       'RUNNING' as state, null as wait_reason,
       null as fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       null as result, l.worker, l.id as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, null as due_at, j.deadline,
       l.claimed_at as started_at, null as finished_at, j.last_delay_us, j.job_group
  from reprise_lease l
  straight_join reprise_hold h on h.token = l.id
  straight_join reprise_job j on j.id = h.job_id and j.token < h.token;

create or replace view reprise_show_finished as
select f.id, f.queue, f.type, f.priority, f.payload, f.policy, f.delay_us, f.asked_at, f.resource, f.tags, f.unique_key,
       f.key_rule, f.idempotency_key, f.timeout_us, f.schedule, f.chain,
       f.state, null as wait_reason, f.fail_reason, f.error_type, f.error_message, f.fingerprint, f.progress,
       f.progress_message, f.result, f.worker, null as holder, false as cancel_requested,
       f.attempts, f.losses, f.interruptions, f.snoozes, f.granted,
       f.created_at, f.first_due_at, null as due_at, f.deadline,
       f.started_at, f.finished_at, f.last_delay_us, f.job_group, f.ended
  from reprise_finished f;

-- By queue and group, or the empty name for the whole queue: when the next start would be due at an even rate. Written by claims
-- under the queue's lock, for the groups of their batch only.
create table if not exists reprise_rate (
  queue   varchar(100) not null,
  name    varchar(100) not null,
  next_at bigint       not null,
  primary key (queue, name)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

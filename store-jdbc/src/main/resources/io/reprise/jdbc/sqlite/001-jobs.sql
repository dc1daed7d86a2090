-- Reprise 001 for SQLite. All times are microseconds since 1970 in UTC, all durations microseconds.
-- These tables are not an API: read them through the program or the library.

-- Policies are kept once each; a job names its policy by the hash of the policy's canonical JSON.
create table reprise_policy (
  id   integer not null primary key,
  json text    not null
) strict;

-- All jobs in one table: a job is written when it is stored and when a claim of it ends, never by the claim itself.
-- Each check of a column that a success changes, and each index on one, costs a part of the rate at which jobs are settled.
-- A job that runs is PENDING here and held by a lease. The live ones are those with a due time.
create table reprise_job (
  id               integer primary key autoincrement,
  state            text    not null default 'PENDING',
  due_at           integer,
  first_due_at     integer not null,
  created_at       integer not null,
  deadline         integer,
  started_at       integer,
  finished_at      integer,
  token            integer not null default 0,
  policy           integer,
  delay_us         integer check (delay_us >= 0),
  asked_at         integer,
  timeout_us       integer check (timeout_us > 0),
  last_delay_us    integer check (last_delay_us >= 0),
  attempts         integer not null default 0,
  losses           integer not null default 0 check (losses >= 0),
  interruptions    integer not null default 0 check (interruptions >= 0),
  snoozes          integer not null default 0 check (snoozes >= 0),
  granted          integer not null default 0 check (granted >= 0),
  lane             integer not null default 0,
  priority         integer not null check (priority between -9 and 9),
  progress         integer check (progress between 0 and 100),
  cancel_requested integer not null default 0 check (cancel_requested in (0, 1)),
  wait_reason      text,
  fail_reason      text,
  worker           text,
  queue            text    not null,
  type             text    not null,
  payload          text    not null,
  resource         text,
  tags             text,
  unique_key       text,
  key_rule         text,
  idempotency_key  text,
  schedule         text,
  chain            text,
  error_type       text,
  error_message    text,
  fingerprint      text,
  progress_message text,
  result           text,
  -- How many suspects may run on one worker with this one.
  together         integer check (together > 0),
  check (case state
           when 'PENDING' then due_at is not null and wait_reason is not null
                               and coalesce(finished_at, fail_reason, result) is null
           when 'SUCCEEDED' then finished_at is not null and coalesce(due_at, wait_reason, fail_reason) is null
           when 'FAILED' then finished_at is not null and fail_reason is not null
                              and coalesce(due_at, wait_reason, result) is null
           when 'CANCELLED' then finished_at is not null and coalesce(due_at, wait_reason, fail_reason, result) is null
           else false end),
  check ((unique_key is null) = (key_rule is null)),
  check (deadline is null or deadline >= first_due_at),
  check ((error_type is null) = (fingerprint is null))
) strict;

-- The claim: equality on queue, lane and priority, then due entries only; SQLite ends every entry with the id.
create index reprise_job_ready on reprise_job (queue, lane, priority desc, due_at) where due_at is not null;

create unique index reprise_job_unique on reprise_job (unique_key) where unique_key is not null and due_at is not null;

create index reprise_job_deadline on reprise_job (deadline) where deadline is not null and due_at is not null;

create index reprise_job_cancel on reprise_job (id) where cancel_requested = 1;

create index reprise_job_failed on reprise_job (id) where state = 'FAILED';

create index reprise_job_failed_queue on reprise_job (queue) where state = 'FAILED';

create index reprise_job_failed_error on reprise_job (fingerprint) where state = 'FAILED';

create index reprise_job_cancelled on reprise_job (id) where state = 'CANCELLED';

-- What is old enough to be deleted; of the successes, which are many, reprise_done keeps the order.
create index reprise_job_failed_at on reprise_job (finished_at) where state = 'FAILED';

create index reprise_job_cancelled_at on reprise_job (finished_at) where state = 'CANCELLED';

-- One row per claimed batch; its id is the fencing token and never used again. A job X is held under L exactly if row L
-- is there, X is among its ids (JSON) and the token of X is less than L. The runner is who lost it first, after a take-over.
-- It is excused if its worker has said that it goes: then its loss is no fault of the jobs. Unheard is, of a remote worker's lease
-- that was never renewed, with how many jobs it began; else 0.
create table reprise_lease (
  id         integer primary key autoincrement,
  queue      text    not null,
  worker     text    not null,
  runner     text    not null,
  alone      integer not null check (alone in (0, 1)),
  claimed_at integer not null,
  expires_at integer not null,
  excused    integer not null default 0 check (excused in (0, 1)),
  unheard    integer not null default 0,
  ids        text    not null
) strict;

-- Successes as they were settled, one row for each batch with their ids (JSON): an index entry for each job would cost more.
create table reprise_done (
  id          integer primary key,
  finished_at integer not null,
  jobs        integer not null,
  ids         text    not null
) strict;

-- Runs that ended otherwise than well; a success is read from the finished job itself.
create table reprise_attempt (
  job_id            integer not null,
  token             integer not null,
  number            integer not null check (number >= 1),
  started_at        integer not null,
  ended_at          integer not null,
  worker            text    not null,
  ending            text    not null,
  failure_class     text,
  failure_type      text,
  failure_code      text,
  failure_status    integer,
  failure_message   text,
  failure_trace     text,
  fingerprint       text,
  retry_after_us    integer,
  decision          text,
  decision_class    text,
  decision_rule     text,
  decision_reason   text,
  decision_delay_us integer,
  decision_raw_us   integer,
  decision_counts   integer,
  primary key (job_id, token)
) strict, without rowid;

create table reprise_queue (
  name        text not null primary key,
  paused_at   integer,
  paused_by   text,
  paused_why  text,
  max_running integer check (max_running >= 0),
  check ((paused_at is null) = (paused_by is null))
) strict;

create table reprise_idempotency (
  key    text    not null primary key,
  job_id integer not null
) strict;

create index reprise_idempotency_job on reprise_idempotency (job_id);

create table reprise_schedule (
  name            text    not null primary key,
  rule            text    not null,
  paused          integer not null default 0 check (paused in (0, 1)),
  next_at         integer not null,
  last_job        integer,
  policy          integer,
  delay_us        integer,
  asked_at        integer,
  timeout_us      integer,
  priority        integer not null,
  queue           text    not null,
  type            text    not null,
  payload         text    not null,
  resource        text,
  tags            text,
  unique_key      text,
  key_rule        text,
  idempotency_key text,
  schedule        text,
  chain           text
) strict;

create index reprise_schedule_due on reprise_schedule (next_at, name) where paused = 0;

create table reprise_role (
  name       text    not null primary key,
  worker     text    not null,
  expires_at integer not null
) strict;

create table reprise_audit (
  id      integer primary key autoincrement,
  at      integer not null,
  action  text    not null,
  job_id  integer,
  subject text,
  by_whom text    not null,
  why     text,
  detail  text
) strict;

create index reprise_audit_job on reprise_audit (job_id, id) where job_id is not null;

-- Changes in the number of jobs in terminal states; upkeep folds them.
create table reprise_counter (
  queue text    not null,
  state text    not null,
  n     integer not null
) strict;

create view reprise_held as
select l.id as token, l.queue, l.worker, l.runner, l.alone, l.claimed_at, u.value as id
  from reprise_lease l
  cross join json_each(l.ids) u;

create view reprise_show as
select j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       case when l.id is null then j.state else 'RUNNING' end as state,
       case when l.id is null then j.wait_reason end as wait_reason,
       j.fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       j.result, coalesce(l.worker, j.worker) as worker, l.id as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, case when l.id is null then j.due_at end as due_at, j.deadline,
       coalesce(l.claimed_at, j.started_at) as started_at, j.finished_at, j.last_delay_us, j.state as stored
  from reprise_job j
  left join reprise_lease l
    on l.id = (
      select max(h.token)
        from reprise_held h
       where h.queue = j.queue and h.token > j.token and h.id = j.id and j.due_at is not null);

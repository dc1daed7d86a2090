-- Reprise 001 for PostgreSQL 14 and later. All times are microseconds since 1970 in UTC, all durations microseconds.
-- These tables are not an API: read them through the program or the library.

create sequence reprise_job_id;

-- Fencing tokens. Never cached, so that a later claim always has a greater token.
create sequence reprise_token;

create function reprise_now() returns bigint language sql stable parallel safe as $$ select (extract(epoch from transaction_timestamp()) * 1000000)::bigint $$;

-- The same clock at the start of the statement: for those that waited for a lock in an earlier one.
create function reprise_clock() returns bigint language sql stable parallel safe as $$ select reprise_now() + (extract(epoch from statement_timestamp() - transaction_timestamp()) * 1000000)::bigint $$;

-- Policies are kept once each; a job names its policy by the hash of the policy's canonical JSON.
create table reprise_policy (
  id   bigint not null primary key,
  json text   not null
);

-- Live jobs only, pending or running. A claim does not write here, so a job costs one row version in its life. The file keeps
-- its size when jobs leave: the planner would take an empty one for a table that is best read whole, and those who cut it off
-- lock everybody out meanwhile.
create table reprise_job (
  id               bigint   not null primary key,
  due_at           bigint   not null,
  first_due_at     bigint   not null,
  created_at       bigint   not null,
  deadline         bigint,
  token            bigint   not null default 0,
  policy           bigint,
  delay_us         bigint,
  asked_at         bigint,
  timeout_us       bigint,
  last_delay_us    bigint,
  attempts         integer  not null default 0,
  losses           integer  not null default 0,
  interruptions    integer  not null default 0,
  snoozes          integer  not null default 0,
  granted          integer  not null default 0,
  lane             smallint not null default 0 check (lane between 0 and 5),
  priority         smallint not null check (priority between -9 and 9),
  progress         smallint check (progress between 0 and 100),
  cancel_requested boolean  not null default false,
  queue            text     collate "C" not null,
  type             text     not null,
  wait_reason      text     not null,
  payload          text     not null,
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
  -- How many suspects may run on one worker with this one.
  together         integer  check (together > 0),
  check ((unique_key is null) = (key_rule is null)),
  check (deadline is null or deadline >= first_due_at),
  check ((error_type is null) = (fingerprint is null))
) with (
  fillfactor = 90,
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
);

-- The claim: equality on queue, lane and priority, then due entries only. No predicate, so nothing flips at the claim.
create index reprise_job_ready on reprise_job (queue, lane, priority desc, due_at, id);

create unique index reprise_job_unique on reprise_job (unique_key) where unique_key is not null;

create index reprise_job_deadline on reprise_job (deadline) where deadline is not null;

create index reprise_job_cancel on reprise_job (id) where cancel_requested;

-- One row per claimed batch; its id is the fencing token. A job X is held under L exactly if row L is there, X is among
-- its ids and the token of X is less than L. The runner is who lost it first, after a take-over. It is excused if its worker
-- has said that it goes: then its loss is no fault of the jobs. Unheard is, of a remote worker's lease that was never renewed, with
-- how many jobs it began; else 0.
create table reprise_lease (
  id         bigint   not null primary key,
  queue      text     not null,
  worker     text     not null,
  runner     text     not null,
  alone      boolean  not null,
  claimed_at bigint   not null,
  expires_at bigint   not null,
  excused    boolean  not null default false,
  unheard    int      not null default 0,
  ids        bigint[] not null
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 200,
  autovacuum_vacuum_cost_delay = 0
);

alter table reprise_lease alter column ids set storage external;

-- Jobs in a terminal state, with all it takes to show them and to revive the failed ones.
create table reprise_finished (
  id               bigint   not null primary key,
  finished_at      bigint   not null,
  first_due_at     bigint   not null,
  created_at       bigint   not null,
  started_at       bigint,
  deadline         bigint,
  token            bigint   not null,
  policy           bigint,
  delay_us         bigint,
  asked_at         bigint,
  timeout_us       bigint,
  last_delay_us    bigint,
  attempts         integer  not null,
  losses           integer  not null,
  interruptions    integer  not null,
  snoozes          integer  not null,
  granted          integer  not null,
  lane             smallint not null,
  priority         smallint not null,
  progress         smallint,
  state            text     not null check (state in ('SUCCEEDED', 'FAILED', 'CANCELLED')),
  fail_reason      text,
  worker           text,
  queue            text     collate "C" not null,
  type             text     not null,
  payload          text     not null,
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
  check ((state = 'FAILED') = (fail_reason is not null)),
  check (result is null or state = 'SUCCEEDED')
);

-- Lists of what did not end well, which is asked for by people.
create index reprise_finished_failed on reprise_finished (id) where state = 'FAILED';

create index reprise_finished_failed_queue on reprise_finished (queue, id) where state = 'FAILED';

create index reprise_finished_failed_error on reprise_finished (fingerprint, id) where state = 'FAILED';

create index reprise_finished_cancelled on reprise_finished (id) where state = 'CANCELLED';

-- For retention; of the successes, which are many, reprise_done keeps the order.
create index reprise_finished_at on reprise_finished (state, finished_at) where state <> 'SUCCEEDED';

-- Successes as they were settled, one row for each batch: an index entry for each job would cost twenty times as much. The
-- rows come in the order of time, so retention looks at the first ones only.
create table reprise_done (
  id          bigint   generated always as identity primary key,
  finished_at bigint   not null,
  jobs        integer  not null,
  ids         bigint[] not null
) with (
  autovacuum_vacuum_cost_delay = 0
);

alter table reprise_done alter column ids set storage external;

-- Runs that ended otherwise than well; a success is read from the finished job itself.
create table reprise_attempt (
  job_id            bigint  not null,
  token             bigint  not null,
  number            integer not null check (number >= 1),
  started_at        bigint  not null,
  ended_at          bigint  not null,
  worker            text    not null,
  ending            text    not null,
  failure_class     text,
  failure_type      text,
  failure_code      text,
  failure_status    integer,
  failure_message   text,
  failure_trace     text,
  fingerprint       text,
  retry_after_us    bigint,
  decision          text,
  decision_class    text,
  decision_rule     text,
  decision_reason   text,
  decision_delay_us bigint,
  decision_raw_us   bigint,
  decision_counts   boolean,
  primary key (job_id, token)
);

create table reprise_queue (
  name        text    not null primary key,
  paused_at   bigint,
  paused_by   text,
  paused_why  text,
  max_running integer check (max_running >= 0),
  check ((paused_at is null) = (paused_by is null))
);

create table reprise_idempotency (
  key    text   not null primary key,
  job_id bigint not null
);

create index reprise_idempotency_job on reprise_idempotency (job_id);

create table reprise_schedule (
  name            text     not null primary key,
  rule            text     not null,
  paused          boolean  not null default false,
  next_at         bigint   not null,
  last_job        bigint,
  policy          bigint,
  delay_us        bigint,
  asked_at        bigint,
  timeout_us      bigint,
  priority        smallint not null,
  queue           text     not null,
  type            text     not null,
  payload         text     not null,
  resource        text,
  tags            text,
  unique_key      text,
  key_rule        text,
  idempotency_key text,
  schedule        text,
  chain           text
);

create index reprise_schedule_due on reprise_schedule (next_at, name) where not paused;

create table reprise_role (
  name       text   not null primary key,
  worker     text   not null,
  expires_at bigint not null
);

create table reprise_audit (
  id      bigint generated always as identity primary key,
  at      bigint not null,
  action  text   not null,
  job_id  bigint,
  subject text,
  by_whom text   not null,
  why     text,
  detail  text
);

create index reprise_audit_job on reprise_audit (job_id, id) where job_id is not null;

-- Changes in the number of jobs in terminal states: only ever appended, so no two settles wait for one row; upkeep folds.
create table reprise_counter (
  queue text   not null,
  state text   not null,
  n     bigint not null
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

create view reprise_held as
select l.id as token, l.queue, l.worker, l.runner, l.alone, l.claimed_at, u.id
  from reprise_lease l
  cross join unnest(l.ids) as u (id);

-- The three views name the columns that show a job, in one order.
create view reprise_show_live as
select j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       case when l.token is null then 'PENDING' else 'RUNNING' end as state,
       case when l.token is null then j.wait_reason end as wait_reason,
       null::text as fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       null::text as result, l.worker, l.token as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, case when l.token is null then j.due_at end as due_at, j.deadline,
       l.claimed_at as started_at, null::bigint as finished_at, j.last_delay_us
  from reprise_job j
  left join lateral (
    select h.id as token, h.worker, h.claimed_at
      from reprise_lease h
     where h.queue = j.queue and h.id > j.token and j.id = any (h.ids)
     limit 1
  ) l on true;

-- The running ones among them, found from the leases one by one: the offset keeps the planner from another order.
create view reprise_show_running as
select h.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       'RUNNING' as state, null::text as wait_reason,
       null::text as fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       null::text as result, h.worker, h.token as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, null::bigint as due_at, j.deadline,
       h.claimed_at as started_at, null::bigint as finished_at, j.last_delay_us
  from reprise_held h
  cross join lateral (
    select * from reprise_job where id = h.id and queue = h.queue and token < h.token offset 0
  ) j;

create view reprise_show_finished as
select f.id, f.queue, f.type, f.priority, f.payload, f.policy, f.delay_us, f.asked_at, f.resource, f.tags, f.unique_key,
       f.key_rule, f.idempotency_key, f.timeout_us, f.schedule, f.chain,
       f.state, null::text as wait_reason, f.fail_reason, f.error_type, f.error_message, f.fingerprint, f.progress,
       f.progress_message, f.result, f.worker, null::bigint as holder, false as cancel_requested,
       f.attempts, f.losses, f.interruptions, f.snoozes, f.granted,
       f.created_at, f.first_due_at, null::bigint as due_at, f.deadline,
       f.started_at, f.finished_at, f.last_delay_us
  from reprise_finished f;

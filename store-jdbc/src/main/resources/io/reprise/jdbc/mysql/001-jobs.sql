-- Reprise 001 for MySQL 8.0 and later and MariaDB 10.6 and later. All times are microseconds since 1970 in UTC, all
-- durations microseconds. These tables are not an API: read them through the program or the library.
-- A definition commits by itself here, so each one may be run again after one that failed.

-- Numbers that only grow: job ids, taken by the block, and versions of control state.
create table if not exists reprise_sequence (
  name  varchar(100) not null primary key,
  value bigint       not null
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

insert ignore into reprise_sequence (name, value) values ('job', 0), ('control', 0);

-- Policies are kept once each; a job names its policy by the hash of the policy's canonical JSON.
create table if not exists reprise_policy (
  id   bigint     not null primary key,
  json mediumtext not null
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Live jobs only, pending or running. A claim does not write here. Entries without a unique key do not hinder each other.
-- Lanes 3 to 5 are parked: what was in lane 0, 1 or 2 before. No claim looks there. A parked job names what it waits for.
create table if not exists reprise_job (
  id               bigint       not null primary key,
  due_at           bigint       not null,
  first_due_at     bigint       not null,
  created_at       bigint       not null,
  deadline         bigint,
  token            bigint       not null default 0,
  policy           bigint,
  delay_us         bigint,
  asked_at         bigint,
  timeout_us       bigint,
  last_delay_us    bigint,
  attempts         integer      not null default 0,
  losses           integer      not null default 0,
  interruptions    integer      not null default 0,
  snoozes          integer      not null default 0,
  granted          integer      not null default 0,
  lane             smallint     not null default 0 check (lane between 0 and 5),
  priority         smallint     not null check (priority between -9 and 9),
  progress         smallint     check (progress between 0 and 100),
  cancel_requested boolean      not null default false,
  queue            varchar(100) not null,
  type             varchar(100) not null,
  wait_reason      varchar(100) not null,
  payload          mediumtext   not null,
  resource         varchar(100),
  tags             text,
  unique_key       varchar(250),
  key_rule         varchar(100),
  idempotency_key  varchar(250),
  schedule         varchar(100),
  chain            longtext,
  error_type       text,
  error_message    mediumtext,
  fingerprint      varchar(100),
  progress_message text,
  parked_by        varchar(250),
  -- How many suspects may run on one worker with this one.
  together         integer      check (together > 0),
  check ((unique_key is null) = (key_rule is null)),
  check (deadline is null or deadline >= first_due_at),
  check ((error_type is null) = (fingerprint is null)),
  -- The claim: equality on queue, lane and priority, then due entries only. InnoDB ends every entry with the id.
  index reprise_job_ready (queue, lane, priority, due_at),
  unique index reprise_job_unique (unique_key),
  index reprise_job_deadline (deadline),
  -- Names of what jobs are parked by, and the earliest due of each.
  index reprise_job_parked (parked_by, due_at)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- One row for each queue that was claimed from: claims share it, who keeps claims away has it alone.
create table if not exists reprise_queue_lock (
  name varchar(100) not null primary key
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- One row per claimed batch; its id is the fencing token and never used again. Never changed, so that a caller's transaction
-- that settles under it does not keep it from being renewed. The runner is who lost it first, after a take-over.
create table if not exists reprise_lease (
  id         bigint       not null auto_increment primary key,
  queue      varchar(100) not null,
  worker     text         not null,
  runner     text         not null,
  alone      boolean      not null,
  claimed_at bigint       not null
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Excused is a lease whose worker has said that it goes: then its loss is no fault of the jobs. Unheard is, of a remote worker's
-- lease that was never renewed, with how many jobs it began; else 0.
create table if not exists reprise_expiry (
  id         bigint  not null primary key,
  worker     text    not null,
  expires_at bigint  not null,
  excused    boolean not null default false,
  unheard    int     not null default 0
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- The jobs of a lease. A job X is held under L exactly if lease L is there, lists X here, and the token of X is less than L.
-- The index on jobs is not unique: no two claims can have the same job, and to check would lock what lies beside it.
create table if not exists reprise_hold (
  token  bigint not null,
  job_id bigint not null,
  primary key (token, job_id),
  index reprise_hold_job (job_id)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Jobs in a terminal state, with all it takes to show them and to revive the failed ones.
create table if not exists reprise_finished (
  id               bigint       not null primary key,
  finished_at      bigint       not null,
  first_due_at     bigint       not null,
  created_at       bigint       not null,
  started_at       bigint,
  deadline         bigint,
  token            bigint       not null,
  policy           bigint,
  delay_us         bigint,
  asked_at         bigint,
  timeout_us       bigint,
  last_delay_us    bigint,
  attempts         integer      not null,
  losses           integer      not null,
  interruptions    integer      not null,
  snoozes          integer      not null,
  granted          integer      not null,
  lane             smallint     not null,
  priority         smallint     not null,
  progress         smallint,
  state            varchar(20)  not null check (state in ('SUCCEEDED', 'FAILED', 'CANCELLED')),
  fail_reason      varchar(100),
  worker           text,
  queue            varchar(100) not null,
  type             varchar(100) not null,
  payload          mediumtext   not null,
  resource         varchar(100),
  tags             text,
  unique_key       varchar(250),
  key_rule         varchar(100),
  idempotency_key  varchar(250),
  schedule         varchar(100),
  chain            longtext,
  error_type       text,
  error_message    mediumtext,
  fingerprint      varchar(100),
  progress_message text,
  result           mediumtext,
  -- What did not end well, by its end: null for successes, of which reprise_done keeps the order.
  ended            varchar(20)  as (case when state <> 'SUCCEEDED' then state end) virtual,
  check ((state = 'FAILED') = (fail_reason is not null)),
  check (result is null or state = 'SUCCEEDED'),
  index reprise_finished_ended (ended),
  -- Lists of dead letters. InnoDB ends every entry with the id.
  index reprise_finished_ended_queue (ended, queue),
  index reprise_finished_ended_error (ended, fingerprint),
  index reprise_finished_at (ended, finished_at)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Successes as they were settled, one row for each batch with their ids (JSON): an index entry for each job would cost more.
create table if not exists reprise_done (
  id          bigint     not null auto_increment primary key,
  finished_at bigint     not null,
  jobs        integer    not null,
  ids         mediumtext not null
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Runs that ended otherwise than well; a success is read from the finished job itself.
create table if not exists reprise_attempt (
  job_id              bigint  not null,
  token               bigint  not null,
  number              integer not null check (number >= 1),
  started_at          bigint  not null,
  ended_at            bigint  not null,
  worker              text    not null,
  ending              varchar(100) not null,
  failure_class       varchar(100),
  failure_type        text,
  failure_code        text,
  failure_status      integer,
  failure_message     mediumtext,
  failure_trace       mediumtext,
  fingerprint         varchar(100),
  retry_after_us      bigint,
  decision            varchar(100),
  decision_class      varchar(100),
  decision_rule       text,
  decision_reason     varchar(100),
  decision_delay_us   bigint,
  decision_raw_us     bigint,
  decision_counts     boolean,
  predicted_successes double,
  predicted_tries     double,
  predicted_basis     varchar(100),
  primary key (job_id, token)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

create table if not exists reprise_queue (
  name        varchar(100) not null primary key,
  paused_at   bigint,
  paused_by   text,
  paused_why  text,
  max_running integer check (max_running >= 0),
  check ((paused_at is null) = (paused_by is null))
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

create table if not exists reprise_idempotency (
  `key`  varchar(250) not null primary key,
  job_id bigint       not null,
  index reprise_idempotency_job (job_id)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

create table if not exists reprise_schedule (
  name            varchar(100) not null primary key,
  rule            text         not null,
  paused          boolean      not null default false,
  next_at         bigint       not null,
  last_job        bigint,
  policy          bigint,
  delay_us        bigint,
  asked_at        bigint,
  timeout_us      bigint,
  priority        smallint     not null,
  queue           varchar(100) not null,
  type            varchar(100) not null,
  payload         mediumtext   not null,
  resource        varchar(100),
  tags            text,
  unique_key      varchar(250),
  key_rule        varchar(100),
  idempotency_key varchar(250),
  schedule        varchar(100),
  chain           longtext,
  index reprise_schedule_due (paused, next_at, name)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

create table if not exists reprise_role (
  name       varchar(100) not null primary key,
  worker     text         not null,
  expires_at bigint       not null
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

create table if not exists reprise_audit (
  id      bigint       not null auto_increment primary key,
  at      bigint       not null,
  action  varchar(100) not null,
  job_id  bigint,
  subject text,
  by_whom text         not null,
  why     text,
  detail  mediumtext,
  index reprise_audit_job (job_id)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Changes in the number of jobs in terminal states: only ever appended, so no two settles wait for one row; upkeep folds.
create table if not exists reprise_counter (
  id    bigint       not null auto_increment primary key,
  queue varchar(100) not null,
  state varchar(20)  not null,
  n     bigint       not null
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

create or replace view reprise_held as
select l.id as token, l.queue, l.worker, l.runner, l.alone, l.claimed_at, h.job_id as id
  from reprise_lease l
  join reprise_hold h on h.token = l.id;

-- The three views name the columns that show a job, in one order.
create or replace view reprise_show_live as
select j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       convert(case when l.id is null then 'PENDING' else 'RUNNING' end using utf8mb4) collate {collation} as state,
       case when l.id is null then j.wait_reason end as wait_reason,
       null as fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       null as result, l.worker, l.id as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, case when l.id is null then j.due_at end as due_at, j.deadline,
       l.claimed_at as started_at, null as finished_at, j.last_delay_us
  from reprise_job j
  left join (reprise_hold h join reprise_lease l on l.id = h.token) on h.job_id = j.id and h.token > j.token;

-- The running ones among them, found from the leases.
create or replace view reprise_show_running as
select j.id, j.queue, j.type, j.priority, j.payload, j.policy, j.delay_us, j.asked_at, j.resource, j.tags, j.unique_key,
       j.key_rule, j.idempotency_key, j.timeout_us, j.schedule, j.chain,
       'RUNNING' as state, null as wait_reason,
       null as fail_reason, j.error_type, j.error_message, j.fingerprint, j.progress, j.progress_message,
       null as result, l.worker, l.id as holder, j.cancel_requested,
       j.attempts, j.losses, j.interruptions, j.snoozes, j.granted,
       j.created_at, j.first_due_at, null as due_at, j.deadline,
       l.claimed_at as started_at, null as finished_at, j.last_delay_us
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
       f.started_at, f.finished_at, f.last_delay_us, f.ended
  from reprise_finished f;

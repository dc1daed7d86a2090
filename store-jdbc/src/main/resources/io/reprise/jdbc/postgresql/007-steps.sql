-- Reprise 007 for PostgreSQL: the steps of jobs.

-- Read by job, and written by the run that holds the job: the statement that writes a row has the condition on the lease. A row
-- stays when its job ends, and goes with it. A step is OPEN or STARTED before it is DONE or FAILED.
create table reprise_step (
  job_id        bigint  not null,
  name          text    collate "C" not null,
  kind          text    not null,
  state         text    not null,
  token         bigint  not null,
  at            bigint  not null,
  due_at        bigint,
  suspensions   integer not null,
  type          text,
  value         text,
  fail_reason   text,
  failure_class text,
  error_type    text,
  error_message text,
  primary key (job_id, name),
  check ((state = 'FAILED') = (fail_reason is not null))
);

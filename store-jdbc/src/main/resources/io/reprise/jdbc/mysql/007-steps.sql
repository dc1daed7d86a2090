-- Reprise 007 for MySQL and MariaDB: the steps of jobs.

-- Read by job, and written by the run that holds the job: the statement that writes a row has the condition on the lease. A row
-- stays when its job ends, and goes with it. A step is OPEN or STARTED before it is DONE or FAILED.
create table if not exists reprise_step (
  job_id        bigint       not null,
  name          varchar(100) not null,
  kind          varchar(20)  not null,
  state         varchar(20)  not null,
  token         bigint       not null,
  at            bigint       not null,
  due_at        bigint,
  suspensions   integer      not null,
  type          text,
  value         mediumtext,
  fail_reason   varchar(100),
  failure_class varchar(100),
  error_type    text,
  error_message mediumtext,
  primary key (job_id, name),
  check ((state = 'FAILED') = (fail_reason is not null))
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

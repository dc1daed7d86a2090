-- Reprise 009 for MySQL and MariaDB: jobs that follow the holder of their key, and the log lines of jobs.

-- One row for each job that waits for the end of the job that holds its unique key. The job itself has the key with a line break
-- at the end until it is let go.
create table if not exists reprise_follower (
  follows varchar(250) not null primary key,
  job_id  bigint not null
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Lines that a handler wrote in a run, several in one row: what was new at a heartbeat or at the end. The token names the run. Rows go
-- with their job, and with the history of the run.
create table if not exists reprise_log (
  job_id bigint not null,
  token  bigint not null,
  part   integer not null,
  body   mediumtext not null,
  primary key (job_id, token, part)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

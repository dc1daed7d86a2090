-- Reprise 005 for MySQL and MariaDB: how attempts ended over time, and what breakers went through.

-- Sums of what workers count, by minute and by hour: of each type, queue, resource and error. They take the place of
-- reprise_activity, which had minutes of types only. Some thousand rows at most in each period.
create table if not exists reprise_series (
  step       varchar(20)  not null check (step in ('MINUTE', 'HOUR')),
  subject    varchar(20)  not null,
  at         bigint       not null,
  name       varchar(100) not null,
  jobs       bigint       not null,
  succeeded  bigint       not null,
  failed     bigint       not null,
  retried    bigint       not null,
  retries    bigint       not null,
  dead       bigint       not null,
  backoff_us bigint       not null,
  ran_us     bigint       not null,
  primary key (step, subject, at, name)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

drop table if exists reprise_activity;

-- What breakers and budgets went through: the newest changes of the fleet.
create table if not exists reprise_control_event (
  subject varchar(200) not null,
  at      bigint       not null,
  kind    varchar(40)  not null,
  why     text         not null,
  primary key (subject, at, kind),
  index reprise_control_event_at (at)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

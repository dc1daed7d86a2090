-- Reprise 003 for MySQL and MariaDB: what is counted and known beside the jobs. Few rows, written every few seconds per
-- worker.

-- How retries ended, by the error they followed; what counts less with age is worth this much at seen_at.
create table if not exists reprise_evidence (
  type       varchar(100) not null,
  resource   varchar(100) not null,
  error      varchar(100) not null,
  attempt    integer      not null check (attempt between 1 and 10),
  error_type text         not null,
  tries      double       not null check (tries >= 0),
  successes  double       not null check (successes >= 0),
  seen_at    bigint       not null,
  primary key (type, resource, error, attempt)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- What runs cost, by day and the error they followed.
create table if not exists reprise_spending (
  day        bigint       not null,
  type       varchar(100) not null,
  resource   varchar(100) not null,
  error      varchar(100) not null,
  unit       varchar(100) not null,
  error_type text         not null,
  runs       bigint       not null,
  successes  bigint       not null,
  amount     double       not null,
  wasted     double       not null,
  primary key (day, type, resource, error, unit)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- How jobs fared, by minute and type.
create table if not exists reprise_activity (
  minute     bigint       not null,
  type       varchar(100) not null,
  jobs       bigint       not null,
  retried    bigint       not null,
  retries    bigint       not null,
  dead       bigint       not null,
  backoff_us bigint       not null,
  primary key (minute, type)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Workers that reported and are taken to live until they expire. Lists of names are separated by blanks.
create table if not exists reprise_worker (
  name        varchar(700) not null primary key,
  queues      mediumtext   not null,
  types       mediumtext   not null,
  concurrency integer      not null,
  holding     integer      not null,
  since       bigint       not null,
  seen_at     bigint       not null,
  expires_at  bigint       not null
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Alerts that are raised.
create table if not exists reprise_alert (
  kind      varchar(100) not null,
  type      varchar(100) not null,
  value     double       not null,
  threshold double       not null,
  since     bigint       not null,
  primary key (kind, type)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

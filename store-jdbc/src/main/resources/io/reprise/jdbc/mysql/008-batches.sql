-- Reprise 008 for MySQL and MariaDB: batches of jobs with a common end.

-- One row for each batch. A transaction that ends members adds its sums here, so it holds the row until it commits. The parent is the
-- job whose handler joins the members, with the name of its step; else both are empty. Jobs name their batch in the column chain.
create table if not exists reprise_batch (
  name       varchar(250) not null primary key,
  parent     bigint,
  step       varchar(100),
  total      bigint       not null default 0,
  succeeded  bigint       not null default 0,
  dead       bigint       not null default 0,
  cancelled  bigint       not null default 0,
  created_at bigint       not null,
  closed_at  bigint,
  ended_at   bigint,
  success_at bigint,
  on_success bigint,
  on_end     bigint,
  check (total >= 0 and succeeded >= 0 and dead >= 0 and cancelled >= 0),
  check (succeeded + dead + cancelled <= total),
  check ((parent is null) = (step is null)),
  index reprise_batch_parent (parent),
  index reprise_batch_ended (ended_at),
  index reprise_batch_unclosed (closed_at, parent, created_at)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- The children of joins that have ended, with their results: retention may delete the children first.
create table if not exists reprise_member (
  parent bigint       not null,
  batch  varchar(250) not null,
  place  integer      not null,
  job_id bigint       not null,
  state  varchar(20)  not null,
  result mediumtext,
  primary key (parent, batch, place)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

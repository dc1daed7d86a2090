-- Reprise 010 for MySQL and MariaDB: groups keep their order.

-- By queue and group that keeps its order: the job that started last. Until it has ended, no other job of the group starts. Written by
-- claims under the queue's lock.
create table if not exists reprise_head (
  queue  varchar(100) not null,
  name   varchar(100) not null,
  job_id bigint       not null,
  primary key (queue, name)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

-- Reprise 010 for PostgreSQL: groups keep their order.

-- By queue and group that keeps its order: the job that started last. Until it has ended, no other job of the group starts. Written by
-- claims under the queue's lock.
create table reprise_head (
  queue  text   not null,
  name   text   collate "C" not null,
  job_id bigint not null,
  primary key (queue, name)
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000
);

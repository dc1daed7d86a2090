-- Reprise 010 for SQLite: groups keep their order.

-- By queue and group that keeps its order: the job that started last. Until it has ended, no other job of the group starts. Written by
-- claims under the queue's lock.
create table reprise_head (
  queue  text    not null,
  name   text    not null,
  job_id integer not null,
  primary key (queue, name)
) strict, without rowid;

-- Reprise 002 for MySQL and MariaDB: shared control state (breakers, budgets).

-- Written a few times a second while there is trouble.
create table if not exists reprise_control (
  name    varchar(250) not null primary key,
  version bigint       not null check (version > 0),
  state   mediumtext   not null,
  -- What was changed since a worker last looked.
  index reprise_control_changed (version)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

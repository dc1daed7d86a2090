-- Reprise 004 for MySQL and MariaDB: documents kept beside the jobs (API keys, subscriptions, named policies).

-- Read by kind in the order of the ids' characters, which the collation keeps. Versions are those of reprise_control: each
-- is greater than all before it, also after a row was deleted and made again.
create table if not exists reprise_document (
  kind    varchar(100) not null,
  id      varchar(100) not null,
  version bigint       not null check (version > 0),
  json    mediumtext   not null,
  primary key (kind, id)
) engine = innodb row_format = dynamic default character set utf8mb4 collate {collation};

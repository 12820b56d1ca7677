-- A database and two roles for svc-iam, as docs/database.md says: one owns the tables, one uses them. Another
-- for SpiceDB. It runs once, when the volume is empty. The passwords are those of compose.yaml.
\set ON_ERROR_STOP on
create role iam_owner login password 'iam-owner-of-development-only';
create role iam login password 'iam-of-development-only';
create role spicedb login password 'spicedb-of-development-only';
create database spicedb owner spicedb;
create database iam owner iam_owner;
revoke all on database iam from public;
grant connect on database iam to iam;
\connect iam
set role iam_owner;
create schema svc_access;
grant usage on schema svc_access to iam;
alter default privileges in schema svc_access
  grant select, insert, update, delete on tables to iam;

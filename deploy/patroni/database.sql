-- The service's user and database, created once: psql --variable=password=… --file=database.sql
create role wac login password :'password';
-- PgBouncer's sessions get these from the role only: a statement that takes longer has lost its caller
alter role wac set statement_timeout = '4500ms';
alter role wac set jit = off;
create database wac owner wac;

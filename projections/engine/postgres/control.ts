import type pg from 'pg'

/** Whether the control schema contains everything that {@link controlSql} creates. */
export async function isWhole(client: pg.PoolClient, control: string): Promise<boolean> {
  const text = `select where to_regclass($1 || '.live') is not null and to_regclass($1 || '.generations') is not null
    and to_regprocedure($1 || '.shows(bigint)') is not null`
  return (await client.query(text, [control])).rowCount === 1
}

/** A pattern for the schemas of generations whose views are published in a schema. It captures the number. */
export const generationOf = (views: string) => `^${views}_(\\d{1,15})(?:_views)?$`

/** Numbers of the generations whose tables the views of a schema ($1) read. $2: pattern of generation schemas. */
export const SHOWN = `select distinct cast(substring(theirs.nspname from $2) as bigint) as n
  from pg_class v join pg_namespace s on s.oid = v.relnamespace join pg_rewrite r on r.ev_class = v.oid
  join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
  join pg_class t on t.oid = d.refobjid join pg_namespace theirs on theirs.oid = t.relnamespace
  where s.nspname = $1 and theirs.nspname ~ $2`

/**
 * `live`: the pointer that every read uses. `shows`: true when the transaction sees this generation as the live one. A
 * transaction from before a switch sees no rows of the newer tables; it gets an error instead of an empty answer.
 */
export const controlSql = (control: string) => `
  create schema if not exists ${control};
  create table if not exists ${control}.generations (n bigint primary key, meaning bigint not null, version bigint not null);
  create table if not exists ${control}.live (id integer primary key check (id = 1), n bigint not null);
  create or replace function ${control}.shows(asked bigint) returns boolean
    stable security definer set search_path = pg_catalog language plpgsql as $$
    begin
      if asked = (select n from ${control}.live) then return true; end if;
      raise exception 'the tables were rebuilt and switched while this transaction was open'
        using errcode = '40001', hint = 'begin a new transaction and ask again';
    end $$`

import type pg from 'pg'

/** The privilege to read a view, or some of its columns. */
interface Grant {
  /** As SQL. */
  readonly role: string
  readonly name: string
  readonly columns: string | null
  readonly option: boolean
}

const ROLE = `case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end`

const USAGE = `select distinct ${ROLE} as role from pg_namespace s cross join aclexplode(s.nspacl) g
  where s.nspname = $1 and g.privilege_type = 'USAGE' and g.grantee <> s.nspowner`

const VIEWS = `select ${ROLE} as role, c.relname as name, null as columns, g.is_grantable as option
  from pg_class c join pg_namespace s on s.oid = c.relnamespace cross join aclexplode(c.relacl) g
  where s.nspname = $1 and g.privilege_type = 'SELECT' and g.grantee <> c.relowner
  union all select ${ROLE}, c.relname, string_agg(quote_ident(a.attname), ', '), g.is_grantable
  from pg_class c join pg_namespace s on s.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  join pg_attribute same on same.attrelid = to_regclass(format('%I.%I', $2::text, c.relname)) and same.attname = a.attname
  cross join aclexplode(a.attacl) g
  where s.nspname = $1 and g.privilege_type = 'SELECT' and g.grantee <> c.relowner
  group by 1, 2, 4`

/**
 * The privileges of other roles in a schema: to use it, to read whole views, and to read single columns that the same
 * view of the other tables also has.
 */
export async function grantsIn(client: pg.PoolClient, schema: string, tables: string) {
  const { rows: users } = await client.query<{ role: string }>(USAGE, [schema])
  const { rows: views } = await client.query<Grant>(VIEWS, [schema, tables])
  return { users: users.map(({ role }) => role), views }
}

/** SQL that grants a privilege on a view. */
export const granting = ({ role, columns, option }: Omit<Grant, 'name'>, view: string): string =>
  `grant select ${columns === null ? '' : `(${columns})`} on ${view} to ${role} ${option ? 'with grant option' : ''}`

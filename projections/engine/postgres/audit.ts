import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { ProjectionError } from '../errors.ts'
import { relationsOf, schemaThere } from './catalog.ts'
import { stateOf } from './failures.ts'
import { granting, grantsIn } from './grants.ts'
import type { Names } from './names.ts'
import { scramVerifier } from './scram.ts'
import { ownIn } from './shape.ts'
import { inTransaction } from './transaction.ts'

/**
 * Creates the views of a generation's tables (the seed's section 8 names among them) in a schema that later becomes the
 * live one. Roles with access to a live view get access to the view of the same name; roles with access to all live
 * views get access to new ones.
 */
export async function createViews(client: pg.PoolClient, names: Names, n: number): Promise<void> {
  await client.query(`create schema ${names.asideViews(n)}`)
  await addViews(client, names, n, names.asideViews(n), new Set())
}

/**
 * Creates the views of the live generation that the published schema lacks, and returns their names. Rejects with
 * `REFUSED` when a foreign object has the name of one.
 */
export async function mendViews(client: pg.PoolClient, names: Names, n: number): Promise<readonly string[]> {
  const { views, published, tables } = names
  const there = await relationsOf(client, views)
  const ours = new Set((await ownIn(client, tables(n))).map(({ name }) => name))
  const alien = there.find(({ name, kind }) => ours.has(name) && kind !== 'v')
  if (alien !== undefined)
    throw new ProjectionError(
      'REFUSED',
      `${views}.${alien.name} is a table of others, and a view of the tables needs that name; move it to another schema`,
    )
  const kept = new Set(there.map(({ name }) => name))
  const lost = [...ours].filter((name) => !kept.has(name))
  if (lost.length === 0) return lost
  if (!(await schemaThere(client, views))) await client.query(`create schema ${published}`)
  await addViews(client, names, n, published, kept)
  return lost
}

async function addViews(
  client: pg.PoolClient,
  { control, views, tables }: Names,
  n: number,
  aside: string,
  kept: ReadonlySet<string>,
): Promise<void> {
  const { users, views: granted } = await grantsIn(client, views, tables(n))
  const old = new Set((await ownIn(client, views)).map(({ name }) => name))
  const lacking = (await ownIn(client, tables(n))).map(({ name }) => name).filter((name) => !kept.has(name))
  for (const name of lacking) {
    const where = `(select ${control}.shows(${n}))`
    await client.query(`create view ${aside}."${name}" as select * from ${tables(n)}."${name}" where ${where}`)
  }
  for (const role of users) await client.query(`grant usage on schema ${aside} to ${role}`)
  const ours = granted.filter(({ name }) => old.has(name))
  for (const one of ours) if (lacking.includes(one.name)) await client.query(granting(one, `${aside}."${one.name}"`))
  const whole = ours.filter(({ columns }) => columns === null)
  for (const [role, may] of Map.groupBy(whole, (one) => one.role)) {
    if (may.length < old.size) continue
    const more = { role, columns: null, option: false }
    for (const name of lacking) if (!old.has(name)) await client.query(granting(more, `${aside}."${name}"`))
  }
}

/** The powers of a role beyond grants on single tables, in words. */
const POWERS = `select array_remove(array[
    case when rolsuper then 'is a superuser' end,
    case when rolcreaterole then 'makes roles' end,
    case when rolcreatedb then 'makes databases' end,
    case when rolreplication then 'replicates' end,
    case when rolbypassrls then 'passes over row security' end,
    case when exists (select from pg_shdepend where refclassid = 'pg_authid'::regclass and refobjid = r.oid and deptype = 'o')
      then 'owns tables or more' end,
    (select 'is in ' || string_agg(pg_get_userbyid(roleid), ', ' order by 1) from pg_auth_members where member = r.oid)
  ], null) as powers from pg_roles r where rolname = $1`

/**
 * Creates a role without login that may only read the live views, unless it exists; grant it to people. The role keeps
 * its rights through every rebuild. The connection needs the right to create roles, unless the role exists. Returns
 * whether the role was created. Rejects with `REFUSED` when an existing role has more rights than an auditor should
 * have.
 */
export async function grantAuditors(pool: pg.Pool, names: Names, role: string): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${names.lock})`)
    const found = await client.query<{ powers: string[] }>(POWERS, [role])
    const powers = found.rows[0]?.powers ?? []
    if (powers.length > 0) {
      throw new ProjectionError(
        'REFUSED',
        `the role ${role} may do more than an auditor: it ${powers.join(', ')}; name another role, or take that from it`,
      )
    }
    if (found.rowCount === 0) await makeRole(client, role)
    // Foreign objects in the schema are not granted.
    const ours = (await ownIn(client, names.views)).filter(({ kind }) => kind === 'v')
    await grant(
      client,
      role,
      names.published,
      ours.map(({ name }) => `${names.published}."${name}"`),
    )
    return found.rowCount === 0
  })
}

function makeRole(client: pg.PoolClient, role: string): Promise<unknown> {
  const statement = `create role ${client.escapeIdentifier(role)} nologin`
  return mayMake(() => client.query(statement), statement)
}

/** `statement`: for a superuser, if this user may not run it. */
async function mayMake(run: () => Promise<unknown>, statement: string): Promise<unknown> {
  try {
    return await run()
  } catch (error) {
    if (stateOf(error) !== DENIED) throw error
    const todo = `let a superuser do it (${statement}), then ask again`
    throw new ProjectionError('REFUSED', `this user of PostgreSQL may make no roles; ${todo}`, { cause: error })
  }
}

/** SQLSTATE: insufficient privilege. */
const DENIED = '42501'

async function grant(client: pg.PoolClient, role: string, schema: string, views: readonly string[]): Promise<void> {
  const to = client.escapeIdentifier(role)
  await client.query(`grant usage on schema ${schema} to ${to}`)
  if (views.length > 0) await client.query(`grant select on ${views.join(', ')} to ${to}`)
}

/**
 * Creates a login in a role of {@link grantAuditors}, and returns its random password. The server receives only the SCRAM
 * verifier of the password, so no log of statements contains it. Rejects with `REFUSED` when the name is taken, or when
 * this connection may make no roles.
 */
export async function makeLogin(pool: pg.Pool, role: string, login: string): Promise<string> {
  const password = randomBytes(24).toString('base64url')
  await inTransaction(pool, async (client) => {
    const name = client.escapeIdentifier(login)
    const found = await client.query('select from pg_roles where rolname = $1', [login])
    if (found.rowCount !== 0)
      throw new ProjectionError(
        'REFUSED',
        `there is a role ${login}; name another login, or drop this one: drop role ${name}`,
      )
    const verifier = client.escapeLiteral(scramVerifier(password))
    const statement = `create role ${name} login in role ${client.escapeIdentifier(role)}`
    await mayMake(() => client.query(`${statement} password ${verifier}`), `${statement} password '…'`)
  })
  return password
}

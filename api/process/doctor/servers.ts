import { ProjectionError } from '../../../projections/engine/errors.ts'
import { counted } from '../../../projections/engine/text.ts'
import {
  bad,
  checkOrphans,
  checkParked,
  checkRestores,
  type Finding,
  message,
  ok,
} from '../../operations/doctor/finding.ts'
import type { ServersConfig } from '../config/settings.ts'
import type { Unsafe } from '../servers/durability.ts'
import { COUNTED, lookAtServers, type TablesLook } from '../servers/inspect-servers.ts'
import type { SchemaRights } from '../servers/schema-rights.ts'

/** The finding for an unusable server, with the remedy. */
function broken(check: string, error: Error, without: string): Finding {
  const [seen = '', ...todo] = message(error).split('; ')
  const isThere = error instanceof ProjectionError && error.code === 'LOG_OTHER'
  return bad('broken', check, seen, [...todo, ...(isThere ? [] : [without])].join('; '))
}

/** Checks each of the two servers, and the parts of this deployment on it. */
export async function checkServers(config: ServersConfig): Promise<Finding[]> {
  const { namespace } = config
  const servers = await lookAtServers(config)
  const { eventstore, postgres } = servers
  const findings: Finding[] = []
  if (eventstore instanceof Error) {
    findings.push(broken('eventstore', eventstore, 'nothing is recorded without it'))
  } else {
    const { version, log, made, refused } = eventstore
    const heard = made || refused !== null ? '' : ', no worker yet'
    const found = `${version}, namespace ${namespace}, ${log === null ? 'no log yet' : `log at ${log.position}`}${heard}`
    const todo = 'let this user make persistent subscriptions; until then workers find what is due by looking only'
    findings.push(
      refused === null ? ok('eventstore', found) : bad('warning', 'eventstore', `${found}; ${refused}`, todo),
    )
  }
  if (postgres instanceof Error) {
    findings.push(broken('postgres', postgres, 'without it nothing is shown or taken over'))
  } else {
    const { version, tables, mayCreate, rights, unsafe } = postgres
    const found = `${version}, schema ${namespace}, ${tables === null ? 'no tables yet; the first start makes them' : shown(tables)}`
    const todo = 'grant create on the database to this user: the first start, a rebuild and a new version make schemas'
    findings.push(mayCreate ? ok('postgres', found) : bad('warning', 'postgres', `${found}; may make no schema`, todo))
    findings.push(...checkDurability(unsafe), ...checkRights(rights, tables !== null))
    findings.push(
      ...(tables === null
        ? []
        : [
            ...checkShared(tables),
            ...checkParked(tables.parked),
            ...checkOrphans(tables.orphans),
            ...checkRestores(tables.restoring),
          ]),
    )
  }
  if (!(eventstore instanceof Error || postgres instanceof Error))
    findings.push(ok('log', eventstore.log?.logId ?? 'none yet; the first start makes it'))
  return findings
}

/** Settings under which PostgreSQL loses or damages acknowledged commits. keepup stores its blobs there. */
function checkDurability(unsafe: readonly Unsafe[]): Finding[] {
  return unsafe.map((name) => {
    const todo = `set ${name} = on (postgresql.conf, alter system, alter role, alter database), then reload`
    return name === 'synchronous_commit'
      ? bad(
          'warning',
          'durability',
          'synchronous_commit = off: a crash loses the last commits of all but the blobs',
          todo,
        )
      : bad(
          'broken',
          'durability',
          `${name} = off: a power cut may damage every file of PostgreSQL, and lose blobs`,
          todo,
        )
  })
}

/** Reports missing rights of this user. `made`: the deployment exists, including its blobs and leases. */
function checkRights({ takesWrites, lacking, foreign, leases, blobs }: SchemaRights, made: boolean): Finding[] {
  const owner = 'let the user of KEEPUP_POSTGRES own what keepup has made there'
  const findings: Finding[] = []
  if (!takesWrites) {
    const todo = 'a standby, or set to be read-only: name the server that takes writes in KEEPUP_POSTGRES'
    findings.push(bad('broken', 'rights', 'this PostgreSQL takes no writes', todo))
  }
  if (lacking.length > 0) {
    const found = `this user may not read and write ${some(lacking)}`
    findings.push(bad('broken', 'rights', found, `${owner}, or grant it select, insert, update and delete`))
  }
  if (foreign.length > 0) {
    const found = `another user owns the schemas ${some(foreign)}`
    const todo = made ? `${owner}: a rebuild and a new version need it` : 'set another namespace, or drop that schema'
    findings.push(bad(made ? 'warning' : 'broken', 'schemas', found, todo))
  }
  if (made && !leases) findings.push(ok('leases', 'the table is missing; the next lease makes it again'))
  if (made && !blobs) {
    const todo =
      'restore it from a backup before anything starts, which would make an empty one; then "verify" the runs'
    findings.push(bad('broken', 'blobs', 'the table is missing, and with it every body of over 64 KiB', todo))
  }
  return findings
}

const some = (names: readonly string[]) =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')

function checkShared({ damage, ahead, position }: TablesLook): Finding[] {
  if (damage !== null) {
    const todo = 'whatever needs them next makes them anew of the log, as "rebuild" does; find out who has changed them'
    return [bad('warning', 'tables', damage, todo)]
  }
  if (!ahead) return []
  const found = `they are newer than the log, which holds no event at ${position}: it was restored from a backup`
  const todo =
    'they stay as they are, the witness of what was recorded since that backup; look with "keepup repair", then restore a newer ' +
    'log, or accept the loss'
  return [bad('warning', 'tables', found, todo)]
}

function shown({ position, behind }: TablesLook): string {
  const count = behind === COUNTED ? `${COUNTED} events or more` : counted(behind ?? 0, 'event')
  const lag = behind === null ? '' : behind === 0 ? ', up to the log' : `, ${count} behind`
  return `tables at ${position ?? 'the beginning'}${lag}`
}

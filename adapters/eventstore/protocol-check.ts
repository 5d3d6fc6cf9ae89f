import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { BACKWARDS, END, ErrorType } from '@eventstore/db-client'
import { LogError } from '../../domain/log/errors.ts'
import type { EventStoreConnection } from './connection.ts'
import type { Address } from './connection-string.ts'
import { causeOf } from './errors.ts'
import type { TimeLimits } from './options.ts'
import { patiently } from './retry.ts'

/** The time limit for the detection of a server's protocol, in ms. */
const SHOWN_WITHIN = 2_000

/**
 * Checks that a suitable server answers. Rejects with `LOG_REFUSED` if the server is too old, its TLS setting differs
 * from the connection string, its certificate is not trusted, or it denies this user `$all`. Rejects with
 * `LOG_UNAVAILABLE` if no server answers. `onWait`: called if that takes long.
 */
export async function checkServer(
  connection: EventStoreConnection,
  limits: TimeLimits,
  onWait?: (text: string) => void,
): Promise<void> {
  const { address } = connection
  const patience = { limits, servers: address.servers, signal: new AbortController().signal, onWait }
  await patiently(patience, 'connecting', address.servers, async () => {
    try {
      if (await connection.appendsInBatches(limits.callMs)) {
        const version = await connection.serverVersion(limits.callMs)
        if (!isOlder(version)) return await mayReadAll(connection, limits, patience.signal)
        throw tooOld(address, `version ${version} does not tell when a subscription has caught up`)
      }
    } catch (error) {
      if (causeOf(error) === 'unavailable') await checkScheme(address)
      throw error
    }
    throw tooOld(address, 'it cannot append in batches')
  })
}

/**
 * Checks that the user may read `$all`, which keepup follows. EventStoreDB allows it only to administrators unless its
 * ACL says otherwise.
 */
async function mayReadAll(
  connection: EventStoreConnection,
  { callMs }: TimeLimits,
  signal: AbortSignal,
): Promise<void> {
  const newest = { direction: BACKWARDS, fromPosition: END, maxCount: 1 } as const
  try {
    await connection.read((client) => client.readAll(newest), callMs, signal)
  } catch (error) {
    if (causeOf(error) !== ErrorType.ACCESS_DENIED) throw error
    throw new LogError(
      'LOG_REFUSED',
      `this user may not read $all of the event store at ${connection.address.servers}, which keepup follows; make the ` +
        'user a member of $admins, or add it to "$r" of the ACL of $all (see "Rights" in api/docs/servers-operation.md)',
      { cause: error },
    )
  }
}

const tooOld = ({ servers }: Address, why: string) =>
  new LogError('LOG_REFUSED', `the event store at ${servers} is too old: ${why}; use EventStoreDB 23.10 or newer`)

/** Whether a released version is too old. A custom build with another numbering does not count as old. */
function isOlder(version: string): boolean {
  const [, major = 0, minor = 0] = /^(\d+)\.(\d+)\./.exec(version)?.map(Number) ?? []
  return major >= 20 && (major < 23 || (major === 23 && minor < 10))
}

/**
 * Finds out whether client and server disagree on TLS or on the certificate authority. The client reports only
 * "unavailable" in these cases.
 */
async function checkScheme(address: Address): Promise<void> {
  const refused = (why: string) => new LogError('LOG_REFUSED', `the event store at ${address.servers} ${why}`)
  const ca = address.caFile === null ? undefined : await readFile(address.caFile)
  for (const endpoint of address.endpoints) {
    const shown = await protocolOf(endpoint, ca)
    if (shown === null) continue
    if (shown.tls !== address.tls)
      throw refused(`${shown.tls ? 'speaks TLS; remove' : 'speaks no TLS; add'} tls=false in the connection string`)
    if (!shown.tls || shown.untrusted === null) continue
    throw refused(
      address.caFile === null
        ? 'has a certificate that is not trusted here; name its authority with tlsCAFile=… in the connection string'
        : `has a certificate that the tlsCAFile ${address.caFile} does not vouch for (${shown.untrusted}); name the ` +
            'certificate of the authority that signed it',
    )
  }
}

/** A server's reaction to a TLS handshake. `untrusted`: why its certificate is not trusted. Null: it is trusted. */
type Shown = { readonly tls: false } | { readonly tls: true; readonly untrusted: string | null }

/**
 * Detects the protocol of a server. Null: no answer. `ca`: the trusted authorities. Absent: the authorities of the
 * system.
 */
function protocolOf(
  { host, port }: { readonly host: string; readonly port: number },
  ca: Buffer | undefined,
): Promise<Shown | null> {
  return new Promise((resolve) => {
    let reached = false
    const socket = connect({
      host,
      port,
      ca,
      servername: isIP(host) === 0 ? host : '',
      rejectUnauthorized: false,
      timeout: SHOWN_WITHIN,
    })
    const end = (shown: Shown | null) => {
      socket.destroy()
      resolve(shown)
    }
    socket.once('connect', () => {
      reached = true
    })
    socket.once('secureConnect', () =>
      end({ tls: true, untrusted: socket.authorized ? null : String(socket.authorizationError) }),
    )
    socket.once('timeout', () => end(null))
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      if (!reached) return end(null)
      // A TLS alert is also TLS. Any other error after the connection is not.
      end(code.includes('ALERT') ? { tls: true, untrusted: null } : { tls: false })
    })
  })
}

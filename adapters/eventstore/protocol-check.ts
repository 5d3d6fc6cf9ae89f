import { connect } from 'node:tls'
import { LogError } from '../../domain/log/errors.ts'
import type { Connection } from './connection.ts'
import { type Address, authority } from './connection-string.ts'
import { causeOf } from './errors.ts'
import type { Limits } from './options.ts'
import { patiently } from './patience.ts'

/** How long a server may take to show which protocol it speaks, in ms. */
const SHOWN_WITHIN = 2_000

/**
 * Makes sure that there is a server that can do what is needed. Rejects with `LOG_REFUSED` where it is too old, speaks TLS
 * where none is wanted or none where it is, or is not trusted; with `LOG_UNAVAILABLE` where none answers. `onWait` is told
 * where that takes a while.
 */
export async function greet(connection: Connection, limits: Limits, onWait?: (text: string) => void): Promise<void> {
  const { address } = connection
  const patience = { limits, servers: address.servers, signal: new AbortController().signal, onWait }
  await patiently(patience, 'connecting', address.servers, async () => {
    try {
      if (await connection.appendsInBatches(limits.callMs)) {
        const version = await connection.serverVersion(limits.callMs)
        if (!isOlder(version)) return
        throw tooOld(address, `version ${version} does not tell when a subscription has caught up`)
      }
    } catch (error) {
      if (causeOf(error) === 'unavailable') await checkScheme(address)
      throw error
    }
    throw tooOld(address, 'it cannot append in batches')
  })
}

const tooOld = ({ servers }: Address, why: string) =>
  new LogError('LOG_REFUSED', `the event store at ${servers} is too old: ${why}; use EventStoreDB 23.10 or newer`)

/** Whether a released version is too old. A custom build with another numbering does not count as old. */
function isOlder(version: string): boolean {
  const [, major = 0, minor = 0] = /^(\d+)\.(\d+)\./.exec(version)?.map(Number) ?? []
  return major >= 20 && (major < 23 || (major === 23 && minor < 10))
}

/** The client says only "unavailable" where client and server disagree on TLS. */
async function checkScheme(address: Address): Promise<void> {
  const refused = (why: string) =>
    new LogError('LOG_REFUSED', `the event store at ${address.servers} ${why} in the connection string`)
  for (const endpoint of address.endpoints) {
    const shown = await protocolOf(endpoint)
    if (shown === 'plain' && address.tls) throw refused('speaks no TLS; add tls=false')
    if (shown !== 'plain' && shown !== null && !address.tls) throw refused('speaks TLS; remove tls=false')
    if (shown === 'untrusted' && address.tls && !authority(address))
      throw refused('has a certificate that is not trusted here; name its authority with tlsCAFile=…')
  }
}

/** A server's answer to the start of TLS; null: none. */
function protocolOf({ host, port }: { host: string; port: number }): Promise<'tls' | 'plain' | 'untrusted' | null> {
  return new Promise((resolve) => {
    let reached = false
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: SHOWN_WITHIN })
    const end = (shown: 'tls' | 'plain' | 'untrusted' | null) => {
      socket.destroy()
      resolve(shown)
    }
    socket.once('connect', () => {
      reached = true
    })
    socket.once('secureConnect', () => end(socket.authorized ? 'tls' : 'untrusted'))
    socket.once('timeout', () => end(null))
    socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
      if (!reached) return end(null)
      // An alert is TLS too; anything else that answers is not.
      end(code.includes('ALERT') ? 'tls' : 'plain')
    })
  })
}

import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { promisify } from 'node:util'
import { ToolError } from '../../domain/calls/errors.ts'
import type { AddressRule } from './addresses.ts'

/** All addresses of a host name, in the system's resolution. */
export type Resolve = (host: string) => Promise<readonly LookupAddress[]>

export const systemResolve: Resolve = (host) => promisify(lookup)(host, { all: true })

/** The host of a URL, without the brackets of IPv6. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1')

export const refusedAddress = (host: string, address: string): ToolError =>
  new ToolError(
    'SANDBOX_VIOLATION',
    `${host === address ? address : `${host} is at ${address}, which`} is not a public address, so it is not read; ` +
      'use a public page',
    { beforeEffect: true },
  )

/**
 * Opens a connection for one request. The socket connects to the same resolved addresses that were checked, so a name
 * server cannot give another answer in between. A name with one refused address is refused completely. The address of
 * the connected socket is checked again before any data is sent.
 */
export function openConnection(url: URL, mayConnect: AddressRule, resolve: Resolve): Socket {
  const host = hostOf(url)
  if (isIP(host) !== 0 && !mayConnect(host)) throw refusedAddress(host, host)
  const options = {
    host,
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    lookup: checkedLookup(mayConnect, resolve),
  }
  const socket =
    url.protocol === 'https:'
      ? tlsConnect({ ...options, ALPNProtocols: ['http/1.1'], ...(isIP(host) === 0 && { servername: host }) })
      : netConnect(options)
  socket.prependOnceListener('connect', () => {
    const address = socket.remoteAddress ?? 'an unknown address'
    if (!mayConnect(address)) socket.destroy(refusedAddress(host, address))
  })
  return socket
}

const checkedLookup =
  (mayConnect: AddressRule, resolve: Resolve): LookupFunction =>
  (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => {
        const refused = addresses.find(({ address }) => !mayConnect(address))
        const [first] = addresses
        if (refused !== undefined) callback(refusedAddress(host, refused.address), '', 0)
        else if (first === undefined) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '', 0)
        else if (all) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, '', 0),
    )
  }

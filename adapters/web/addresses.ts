import { BlockList, isIP } from 'node:net'
import { z } from 'zod'

// The addresses that `read_url` may connect to. Special-purpose ranges: the IANA registries of RFC 6890, as of 2026.
// The package request-filtering-agent (3.2) would allow `::7f00:1` and Azure's metadata, would not check the connected
// socket, and would reject with errors that only their text tells apart.

const SPECIAL_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // shared by carriers; metadata of Alibaba Cloud
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // metadata of Azure, in a public range
  '169.254.0.0/16', // link-local; metadata of most clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments; metadata of Oracle Cloud
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
]

/**
 * The only range of IPv6 that is routed worldwide. Mapped, translated, unique-local and link-local addresses are
 * outside it.
 */
const GLOBAL_IPV6 = ['2000::/3']
/** Exceptions within it: tunnels that lead to any IPv4 address (Teredo, 6to4), and documentation. */
const SPECIAL_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

/** An address, or a range of addresses in CIDR notation. */
export const AddressRange = z
  .string()
  .refine((text) => rangeOf(text) !== null, 'expected an IP address or a range such as "10.1.0.0/16"')

interface Range {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

function rangeOf(text: string): Range | null {
  const [address = '', prefix, ...rest] = text.split('/')
  const version = isIP(address)
  const bits = version === 4 ? 32 : 128
  const length = prefix === undefined ? bits : Number(prefix)
  const whole = prefix === undefined || /^\d{1,3}$/.test(prefix)
  if (version === 0 || rest.length > 0 || !whole || length > bits || address.includes('%')) return null
  return { address, prefix: length, family: version === 4 ? 'ipv4' : 'ipv6' }
}

function listOf(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of texts) {
    const { address, prefix, family } = rangeOf(text)!
    list.addSubnet(address, prefix, family)
  }
  return list
}

/** Made at the first check: the start of a command would otherwise load Node's block lists. */
const lazyListOf = (texts: readonly string[]) => {
  let list: BlockList | null = null
  return (): BlockList => {
    list ??= listOf(texts)
    return list
  }
}

const special = lazyListOf([...SPECIAL_IPV4, ...SPECIAL_IPV6])
const global = lazyListOf(GLOBAL_IPV6)

/**
 * Whether a connection to an address is allowed: the address is public, or the settings allow it. False for any other
 * text.
 */
export type AddressRule = (address: string) => boolean

const loopback4 = lazyListOf(['127.0.0.0/8'])

/** Whether an address is of this machine. */
export const isLoopback = (address: string): boolean =>
  address === '::1' || (isIP(address) === 4 && loopback4().check(address, 'ipv4'))

/** `allow`: addresses and ranges that are allowed although they are not public. */
export function addressRule(allow: readonly string[]): AddressRule {
  // Use two lists: a list of both families treats a mapped address (`::ffff:10.0.0.1`) as the IPv4 address.
  const allowed4 = listOf(allow.filter((text) => !text.includes(':')))
  const allowed6 = listOf(allow.filter((text) => text.includes(':')))
  return (address) => {
    const version = isIP(address)
    if (version === 0 || address.includes('%')) return false
    if (version === 4) return !special().check(address, 'ipv4') || allowed4.check(address, 'ipv4')
    return (global().check(address, 'ipv6') && !special().check(address, 'ipv6')) || allowed6.check(address, 'ipv6')
  }
}

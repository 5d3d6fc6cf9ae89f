// Hosts in grants and in requests. Both are read from a parsed URL, so a host is compared in the form in which a
// request connects to it: in lower case, international names in ASCII, and IP addresses in their usual notation.

/** Whether a host of a URL is this machine. */
const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)

/**
 * The host that a request to this URL connects to, as grants name it: `api.example.com`, or with a port other than 443
 * `localhost:8080`. Null: no secret may go there, because the connection is neither encrypted nor to this machine, or
 * the URL names a user.
 */
export function hostOfUrl({ protocol, username, password, hostname, port }: URL): string | null {
  const permitted = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
  if (!permitted || username !== '' || password !== '' || hostname.endsWith('.')) return null
  const number = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  return number === '443' ? hostname : `${hostname}:${number}`
}

/**
 * As {@link hostOfUrl}, of an address in a tool's arguments. Null also if a reference stands before the path: its colon
 * makes the address invalid, or a user.
 */
export function hostOfAddress(address: unknown): string | null {
  const url = typeof address === 'string' ? URL.parse(address) : null
  return url === null ? null : hostOfUrl(url)
}

/** The host of a grant, as {@link hostOfUrl} returns it. Null: not one exact host with an optional port. */
export function hostOfGrant(typed: string): string | null {
  if (/[\s/\\?#@%*]/.test(typed)) return null
  const url = URL.parse(`https://${typed}`)
  if (url === null || url.hostname.includes('*')) return null
  const name = typed.replace(/:\d+$/, '').toLowerCase()
  // Another notation of an IP address, such as 0x7f.1, could be misread.
  const isOther = /^[!-~]*$/.test(name) && name !== url.hostname
  return isOther ? null : hostOfUrl(url)
}

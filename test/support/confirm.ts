import { hash } from 'node:crypto'

/**
 * Whether a program that guesses a content finds its guess confirmed by bytes that remain: the SHA-256 of the content, or
 * of any 16 bytes that remain and the content, stands among them. Bytes count as they are and as hex.
 */
export function confirms(remaining: readonly Uint8Array[], content: Uint8Array): boolean {
  const hashes = new Set<string>()
  const salts = new Set<string>([''])
  for (const bytes of remaining) {
    const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    for (let at = 0; at < raw.length; at++) {
      hashes.add(raw.slice(at, at + 32))
      salts.add(raw.slice(at, at + 16))
    }
    for (const [text] of raw.matchAll(/[0-9a-f]{32,}/gi))
      for (let at = 0; at + 32 <= text.length; at++) {
        hashes.add(Buffer.from(text.slice(at, at + 64), 'hex').toString('latin1'))
        salts.add(Buffer.from(text.slice(at, at + 32), 'hex').toString('latin1'))
      }
  }
  for (const salt of salts)
    if (hashes.has(hash('sha256', Buffer.concat([Buffer.from(salt, 'latin1'), content]), 'latin1' as 'hex')))
      return true
  return false
}

import { describe, expect, it } from 'vitest'
import { capture } from '../../../adapters/sandbox/capture.ts'
import { createRedactor } from '../../../domain/agent/secrets/redactor.ts'

const KEPT = 256 * 1024
const secret = 'q7'.repeat(700)
const { redactStream } = createRedactor({ key: new Uint8Array(32), known: [secret] })

/** What is left of an output that comes in pieces of a size. */
function kept(output: string, piece: number): string {
  const stream = capture(undefined, redactStream())
  const bytes = Buffer.from(output)
  for (let at = 0; at < bytes.length; at += piece) stream.add(bytes.subarray(at, at + piece))
  return stream.text()
}

describe('what is kept of a long output', () => {
  it.each([1_000, 65_536, 1 << 24])('holds no part of a secret that a cut goes through, in pieces of %d', (piece) => {
    const plain = '-'.repeat(KEPT - 1_300)
    for (const middle of ['', 'x'.repeat(3 * KEPT)]) {
      const text = kept(`${plain}${secret}${middle}${secret}${plain}`, piece)
      expect(text).toContain('secret:ku_')
      expect(text).not.toContain('q7q7')
    }
  })

  it('is all of it, and characters are whole, whatever the pieces', () => {
    expect(kept(`é€😀 ${secret}é`, 1)).toMatch(/^é€😀 secret:ku_\w{26}é$/)
    const long = kept('€'.repeat(KEPT), 7)
    expect(long).toMatch(/^€+\n\[… \d+ of 786432 bytes left out …\]\n€+$/)
  })
})

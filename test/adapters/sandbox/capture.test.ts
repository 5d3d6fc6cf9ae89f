import { describe, expect, it } from 'vitest'
import { capture } from '../../../adapters/sandbox/capture.ts'
import { createRedactor } from '../../../domain/secrets/redactor.ts'

const KEPT = 256 * 1024
const secret = 'q7'.repeat(700)
const { redactStream } = createRedactor({ key: new Uint8Array(32), known: [secret] })

/** The captured part of an output in pieces of one size. */
function kept(output: string, piece: number): string {
  const stream = capture(undefined, redactStream())
  const bytes = Buffer.from(output)
  for (let at = 0; at < bytes.length; at += piece) stream.add(bytes.subarray(at, at + piece))
  return stream.end().text
}

describe('the capture of a long output', () => {
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

  it('is shown in part and kept as a whole up to 64 MiB, beyond that as head and tail with a note', () => {
    const MiB = 1024 * 1024
    const whole = (chunks: number, chunk: Buffer) => {
      const stream = capture()
      for (let n = 0; n < chunks; n++) stream.add(chunk)
      return stream.end()
    }
    const line = Buffer.from(`${'é'.repeat(499)}\n`)
    const { text, pieces = [] } = whole(1_000, line)
    expect(text).toMatch(/^é+\n[\s\S]*left out …\]\né*/)
    expect(Buffer.concat(pieces).equals(Buffer.concat(Array.from({ length: 1_000 }, () => line)))).toBe(true)

    const most = whole(64, Buffer.alloc(MiB, 'a'))
    expect(Buffer.concat(most.pieces ?? []).length).toBe(64 * MiB)
    const more = Buffer.concat(whole(70, Buffer.alloc(1.5 * MiB, '€')).pieces ?? []).toString()
    const [first, note, last] = more.split('\n')
    expect(note).toMatch(/^\[… 429916\d+ of 110100480 bytes left out …\]$/)
    expect([first, last].every((end) => end === '€'.repeat(end?.length ?? 0))).toBe(true)
    expect(Buffer.byteLength(more)).toBeLessThanOrEqual(64 * MiB + 64)
  })

  it('takes no more memory for many small chunks than for a few large ones', () => {
    const stream = capture()
    for (let n = 0; n < 300_000; n++) stream.add(Buffer.from('ab'))
    const { pieces = [] } = stream.end()
    expect(pieces.length).toBeLessThan(12)
    expect(pieces.reduce((sum, piece) => sum + piece.length, 0)).toBe(600_000)
  })
})

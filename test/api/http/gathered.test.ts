import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { WirePiece } from '../../../api/http/stream-response.ts'
import { gathered } from '../../../api/operations/events/batched-stream.ts'
import { property } from '../../support/property.ts'

const MOST = 512 * 1024

async function* from(pieces: readonly WirePiece[]): AsyncGenerator<WirePiece> {
  yield* pieces
}

it('joins pieces in their order, and writes no more of them than their bytes need', async () => {
  const large = fc.integer({ min: 0, max: 2 * MOST }).map((size) => new Uint8Array(size).fill(size % 251))
  const piece = fc.oneof({ weight: 9, arbitrary: fc.string({ unit: 'grapheme' }) }, { weight: 1, arbitrary: large })
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
      const given = Buffer.concat(pieces.map((one) => Buffer.from(one as string)))
      const written = await Array.fromAsync(gathered(from(pieces)))
      expect(Buffer.concat(written).equals(given)).toBe(true)
      // Two neighbours would not have fitted into one.
      for (const [i, one] of written.entries()) expect(i === 0 || written[i - 1]!.length + one.length > MOST).toBe(true)
    }),
    property(60),
  )
})

it('keeps no more than a part of what is large', async () => {
  let asked = 0
  async function* parts(): AsyncGenerator<WirePiece> {
    for (; asked < 1_000; asked++) yield new Uint8Array(MOST / 4)
  }
  const written = gathered(parts())
  await written.next()
  expect(asked).toBe(4)
  await written.return(undefined)
})

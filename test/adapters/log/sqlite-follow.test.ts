import { expect, onTestFinished, test } from 'vitest'
import { NEW, Sealer, type Tip, tipOf } from '../../support/sealing.ts'
import { owner } from '../../support/sqlite-log.ts'

const BODY = { body: 'x'.repeat(32 * 1024) }
/** More than a log keeps in memory for those who follow it. */
const OLD = 320
const FLYING = 4

test('a follower far behind makes progress, also while large bodies are appended all the time', async () => {
  const log = await owner()
  const sealer = new Sealer()
  let tip: Tip = NEW
  for (let written = 0; written < OLD; written += 16) {
    const batch = sealer.batch('agent-old', tip, Array<typeof BODY>(16).fill(BODY))
    await log.append('agent-old', tip.revision, batch)
    tip = tipOf(batch)
  }
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  let seen = 0
  const following = (async () => {
    for await (const page of log.subscribe(null, stop.signal)) seen += page.length
  })()
  // A reader that makes progress needs a dozen pages, so this is enough.
  let left = 600
  const write = async (stream: string) => {
    for (let at: Tip = NEW; left > 0 && seen <= OLD; left--) {
      const batch = sealer.batch(stream, at, [BODY])
      const { revision } = at
      at = tipOf(batch)
      await log.append(stream, revision, batch)
    }
  }
  await Promise.all(Array.from({ length: FLYING }, (_, n) => write(`agent-${n}`)))
  expect(seen).toBeGreaterThan(OLD)
  stop.abort()
  await following
})

import { expect, onTestFinished, test, vi } from 'vitest'
import { openSqliteLog } from '../../../../adapters/sqlite/log/open.ts'
import { spawnWriter } from '../../../../adapters/sqlite/log/writer-thread.ts'
import { tempFolder } from '../../../support/folders.ts'
import { BEFORE, NEW, Sealer, type Tip, tipOf } from '../../../support/log/sealing.ts'
import { owner } from '../../../support/log/sqlite-log.ts'

const BODY = { body: 'x'.repeat(32 * 1024) }
/** More than a log keeps in memory for those who follow it. */
const OLD = 640
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

test.each([
  ['a follower lags a few answers behind slow appends', { answerMs: 10, least: 4, most: 12 }],
  ['a follower gathers quick appends', { answerMs: 0.1, least: 40, most: 40 }],
])('%s, while an append is always under way', async (_, { answerMs, least, most }) => {
  type Done = { readonly done: readonly unknown[] }
  /** Answers of the writer that have not been given out: they come one by one, as from a slow disk. */
  const held: Done[] = []
  let holds = false
  let give: (answer: Done) => void = () => undefined
  const spawn = (folder: string) => {
    const worker = spawnWriter(folder)
    const emit = worker.emit.bind(worker)
    worker.emit = (name: string, ...args: unknown[]) => {
      const answer = args[0] as Partial<Done>
      if (!holds || name !== 'message' || answer.done === undefined) return emit(name, ...args)
      held.push(...answer.done.map((one) => ({ done: [one] })))
      return true
    }
    give = (answer) => void emit('message', answer)
    return worker
  }
  const log = await openSqliteLog({ folder: tempFolder(), mode: 'owner', clock: BEFORE, spawn })
  onTestFinished(() => log.close())
  const stop = new AbortController()
  let seen = 0
  const following = (async () => {
    for await (const page of log.subscribe(await log.headCursor(), stop.signal)) seen += page.length
  })()
  const sealer = new Sealer()
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  let tip: Tip = NEW
  const appended: Promise<unknown>[] = []
  const append = () => {
    const batch = sealer.batch('agent-a', tip, [{}])
    appended.push(log.append('agent-a', tip.revision, batch))
    tip = tipOf(batch)
  }
  append()
  await appended[0]
  while (seen === 0) await turn()
  seen = 0
  holds = true
  append()
  let now = performance.now()
  const time = vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => time.mockRestore())
  let answers = 0
  for (; seen === 0 && answers < 40; answers++) {
    append()
    while (held.length === 0) await turn()
    now += answerMs
    give(held.shift()!)
    for (let n = 0; n < 5; n++) await turn()
  }
  holds = false
  for (const answer of held.splice(0)) give(answer)
  await Promise.all(appended)
  expect(answers).toBeGreaterThanOrEqual(least)
  expect(answers).toBeLessThanOrEqual(most)
  stop.abort()
  await following
})

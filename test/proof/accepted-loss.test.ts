import { expect, test } from 'vitest'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { GENESIS, seal } from '../../domain/log/seal.ts'
import { keptLeaves } from '../../domain/proof/runtime/kept-leaves.ts'
import { History } from '../support/attacks/history.ts'
import { memoryTree } from '../support/attacks/memory-tree.ts'
import { withMethods } from './support.ts'

// The signed tree tells the acceptance of a loss which events the log kept. Heads over these events must hold.

/** Positions as in an event store. */
const SPARSE = (position: number) => position * 100

/** Two heads, the second with two more events, and the events. */
async function signedTwice(history = new History()) {
  const { signer } = history.process()
  for (const store of ['a', 'b', 'a', 'a']) await history.set(store)
  const first = await signer.sign()
  for (const store of ['c', 'c']) await history.set(store)
  const { size } = await signer.sign()
  await signer.close()
  return { history, first: first.size, size, events: await history.events() }
}

/** The log with another event of the store b, sealed anew. */
function changed(events: readonly RecordedEvent[]): RecordedEvent[] {
  return events.map((event) => {
    const { header, body } = event
    if (header.stream !== 'context-b') return event
    const forged = seal(GENESIS, { ...header, actor: { kind: 'user', id: 'eve' } }, body)
    return { ...event, ...forged }
  })
}

/** A person accepts the loss, and a process signs what is left. */
const accepted = async (history: History, loss: Parameters<History['accept']>[0]) => {
  await history.accept(loss)
  const { signer } = history.process()
  await signer.sign()
  await signer.close()
}

test('an accepted loss does not excuse an event that was changed before the lost end', async () => {
  const { history, first, size, events } = await signedTwice()
  await history.restoreLog({ events: changed(events).slice(0, -2) })
  await accepted(history, { kept: await history.keptLeaves() })
  const { problems, superseded } = await history.verify(SPARSE)
  expect(problems.map(({ code, size }) => [code, size])).toEqual([['HEAD', first]])
  expect(superseded).toBe(1)
  expect(size).toBe(first + 2)
})

test('an honest accepted loss raises no alarm on a log whose positions have gaps', async () => {
  const { history, size, events } = await signedTwice()
  await history.restoreLog({ events: events.slice(0, -1) })
  await accepted(history, { kept: await history.keptLeaves() })
  expect(await history.verify(SPARSE)).toMatchObject({ ok: true, superseded: 1, losses: [{ head: { size } }] })
})

test('an acceptance that knows no tree excuses each head of before on a log whose positions have gaps', async () => {
  const { history, events } = await signedTwice()
  await history.restoreLog({ events: changed(events).slice(0, -2) })
  await accepted(history, {})
  expect(await history.verify(SPARSE)).toMatchObject({ ok: true, superseded: 2 })
})

test('after an accepted gap a later loss excuses no changed event either', async () => {
  const begun = new History()
  const gap = { from: 2, to: 4 }
  const place = (position: number) => (position < gap.from ? position : position + 3)
  await begun.accept({ gaps: [gap], place })
  const { history, first, events } = await signedTwice(begun)
  await history.restoreLog({ events: changed(events).slice(0, -2) })
  await accepted(history, { place })
  const { problems, superseded } = await history.verify(place)
  expect(problems.map(({ code, size }) => [code, size])).toEqual([['HEAD', first]])
  expect(superseded).toBe(1)
})

test.each<[string, (events: RecordedEvent[]) => RecordedEvent[], (size: number) => number]>([
  ['nothing is lost', (events) => events, (size) => size],
  ['the end is lost', (events) => events.slice(0, -2), (size) => size - 2],
  ['an earlier event was changed too', (events) => changed(events).slice(0, -1), (size) => size - 1],
])('the leaves before the first lost one count as kept: %s', async (_, edit, kept) => {
  const { history, size, events } = await signedTwice()
  await history.restoreLog({ events: edit(events) })
  expect(await history.keptLeaves()).toBe(kept(size))
})

test('events that a restored log got instead of the lost ones are not kept', async () => {
  const { history, size, events } = await signedTwice()
  await history.restoreLog({ events: events.slice(0, -2) })
  for (const store of ['d', 'd', 'd']) await history.set(store)
  expect(await history.keptLeaves()).toBe(size - 2)
})

test('an event that is missing in the middle is lost, and one that cannot be read is not', async () => {
  const { history, size, events } = await signedTwice()
  const missing = events[2]!
  const without = (isDamaged: boolean) =>
    withMethods(history.log, {
      async *readAll(...[after, options]: Parameters<typeof history.log.readAll>) {
        for await (const page of history.log.readAll(after, options)) {
          if (isDamaged) (options as { onDamage?(one: object): void }).onDamage?.({ position: missing.position })
          yield page.filter(({ position }) => position !== missing.position)
        }
      },
    })
  expect(await keptLeaves(without(false), memoryTree(history.tree))).toBe(2)
  expect(await keptLeaves(without(true), memoryTree(history.tree))).toBe(size)
})

test('a stored tree that is not the one of the last head tells nothing', async () => {
  const { history } = await signedTwice()
  const [leaf] = history.tree.leaves
  history.tree.leaves[0] = { ...leaf!, hash: leaf!.hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) }
  expect(await history.keptLeaves()).toBeUndefined()
  history.tree.leaves.pop()
  expect(await history.keptLeaves()).toBeUndefined()
})

test('a damaged note of the last head tells nothing', async () => {
  const { history } = await signedTwice()
  history.tree.heads[1] = { ...history.tree.heads[1]!, note: 'damaged' }
  expect(await history.keptLeaves()).toBeUndefined()
})

test('the report of an accepted loss has the number of events that the acceptance records', async () => {
  const { history, size, events } = await signedTwice()
  await history.restoreLog({ events: events.slice(0, -2) })
  // An event that came after the loss and before its acceptance.
  await history.set('d')
  const kept = size - 2
  await accepted(history, { kept })
  expect(await history.verify(SPARSE)).toMatchObject({ ok: true, losses: [{ kept, head: { size } }] })
})

test('positions of two accepted gaps that overlap are counted once', async () => {
  const begun = new History()
  const place = (position: number) => (position < 2 ? position : position + 5)
  await begun.accept({ gaps: [{ from: 2, to: 4 }], place })
  await begun.accept({ gaps: [{ from: 2, to: 6 }], place })
  // One origin begins after each loss.
  const { signer } = begun.process()
  await signer.sign()
  await signer.close()
  const { history, first, events } = await signedTwice(begun)
  await history.restoreLog({ events: changed(events).slice(0, -2) })
  await accepted(history, { place })
  const { problems, superseded } = await history.verify(place)
  expect(problems.map(({ code, size }) => [code, size])).toEqual([['HEAD', first]])
  expect(superseded).toBe(1)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCheckpoint } from '../../domain/log/proof/checkpoint.ts'
import { splitNote } from '../../domain/log/proof/note.ts'
import { appendLeaves, EMPTY_EDGE, edgeRoot, eventLeaf } from '../../domain/log/proof/tree.ts'
import { History, type Kill } from '../support/attacks/history.ts'
import { law } from '../support/laws.ts'

// Law: all signed heads of one origin are consistent with each other, whatever ends the process that signs, however many
// sign at once, and whatever is put back from a backup.

const USER = { kind: 'user', id: 'ann' } as const

/** Every signature covers the events that the log had at that moment. */
function expectLaw(history: History): void {
  expect(history.contradictions()).toEqual([])
  for (const { note, covers } of history.made) {
    const { root } = parseCheckpoint(splitNote(note).text)
    expect(edgeRoot(appendLeaves(EMPTY_EDGE, covers.map(eventLeaf)).edge)).toEqual(root)
  }
}

const quietly = async (act: Promise<unknown>) => act.catch(() => null)

/** A process that writes, signs and rotates. */
async function session(history: History, kill: Kill | null): Promise<void> {
  const { signer } = history.process(kill)
  await history.set('a')
  await quietly(signer.sign())
  await history.set('b')
  await quietly(signer.rotate(USER))
  await history.set('a')
  await quietly(signer.sign())
  await quietly(signer.close())
}

/** A new log; one with a head; one whose lost end a person has accepted; one whose key is lost. */
const BEGINNINGS: Readonly<Record<string, (history: History) => Promise<void>>> = {
  new: async () => {},
  signed: (history) => session(history, null),
  cut: async (history) => {
    await session(history, null)
    const { events } = await history.backup()
    await history.restoreLog({ events: events.slice(0, -2) })
    await history.accept()
  },
  'without its key': async (history) => {
    await session(history, null)
    history.keys = []
  },
}

test.each(Object.entries(BEGINNINGS))(
  'a process is killed at each call of a port: a log that is %s',
  async (_, begin) => {
    const whole = new History()
    await begin(whole)
    await session(whole, null)
    const { calls } = whole
    expect(calls).toBeGreaterThan(8)
    for (let at = 1; at <= calls; at += 1)
      for (const effect of ['before', 'after'] as const) {
        const history = new History()
        await begin(history)
        await session(history, { at, effect })
        await session(history, null)
        await session(history, null)
        expectLaw(history)
        expect(await history.verify()).toMatchObject({ ok: true, problems: [] })
        expect(await history.problems()).toEqual([])
      }
  },
)

const step = fc.oneof(
  fc.record({
    do: fc.constant('session' as const),
    kill: fc.option(fc.record({ at: fc.nat(16), effect: fc.constantFrom('before' as const, 'after' as const) })),
  }),
  fc.constant({ do: 'two' as const }),
  fc.constant({ do: 'backup' as const }),
  fc.constantFrom({ do: 'old tree' as const }, { do: 'edge' as const }),
  fc.record({ do: fc.constant('old log' as const), accept: fc.boolean() }),
  fc.record({ do: fc.constant('cut' as const), by: fc.integer({ min: 1, max: 6 }), accept: fc.boolean() }),
)

test('kills, two signers at once, cuts and backups of the log or its tree in any order', async () => {
  await law(fc.array(step, { minLength: 2, maxLength: 8 }), 200, async (steps) => {
    const history = new History()
    await session(history, null)
    let kept = await history.backup()
    // A start that finds the log shorter than its mark signs nothing until a person has accepted that.
    let [isCut, isOldTree] = [false, false]
    const cutTo = async (events: typeof kept.events, accept: boolean) => {
      await history.restoreLog({ events })
      if (accept) await history.accept()
      isCut = !accept
    }
    for (const one of steps) {
      if (isCut && isOldTree) break
      if (one.do === 'session') {
        await session(history, one.kill)
        // The origin after the accepted loss has signed.
        isOldTree &&= one.kill !== null
      } else if (one.do === 'two') {
        const [a, b] = [history.process(), history.process()]
        await history.set('a')
        await Promise.all([quietly(a.signer.sign()), quietly(b.signer.sign()), quietly(a.signer.rotate(USER))])
        await history.set('b')
        await Promise.all([quietly(b.signer.sign()), quietly(a.signer.sign())])
        await Promise.all([a.signer.close(), b.signer.close()])
      } else if (one.do === 'backup') kept = await history.backup()
      else if (one.do === 'old log') await cutTo(kept.events, one.accept)
      else if (one.do === 'old tree') {
        history.restoreTree(kept)
        isOldTree = true
      } else if (one.do === 'cut') {
        const { events } = await history.backup()
        await cutTo(events.slice(0, Math.max(1, events.length - one.by)), one.accept)
      } else if (history.tree.tree !== null) {
        const { edge, cursor } = history.tree.tree
        history.tree.tree = {
          edge: { ...edge, hashes: edge.hashes.map((hash) => hash.map((byte) => byte ^ 1)) },
          cursor,
        }
      }
    }
    if (!isCut || !isOldTree) await session(history, null)
    expectLaw(history)
  })
})

import fc from 'fast-check'
import { History } from './history.ts'

// Honest histories: what people, agents, crashes and repairs do to a log. Verification must say nothing about them.

const user = { kind: 'user', id: 'ann' } as const

export const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('set' as const), store: fc.constantFrom('a', 'b', 'c') }) },
  { weight: 2, arbitrary: fc.constant({ do: 'remember' as const }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fork' as const), nth: fc.nat(5), at: fc.nat(3) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('erase' as const), store: fc.constantFrom('a', 'b'), nth: fc.nat(9) }),
  },
  { weight: 4, arbitrary: fc.constantFrom({ do: 'sign' as const }, { do: 'anchor' as const }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom({ do: 'rotate' as const }, { do: 'restart' as const }, { do: 'rebuild' as const }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('kill' as const),
      at: fc.integer({ min: 1, max: 8 }),
      effect: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('loss' as const),
      events: fc.integer({ min: 1, max: 9 }),
      known: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'no key' as const }) },
)
export type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

export const steps = fc.array(step, { minLength: 3, maxLength: 14 })

/** Plays the steps. The log is signed and anchored in the end. */
export async function played(all: readonly Step[]): Promise<History> {
  const history = new History()
  let process = history.process()
  const ended = () => process.signer.close().catch(() => {})
  const again = async (...kill: Parameters<History['process']>) => {
    await ended()
    process = history.process(...kill)
  }
  for (const one of all) {
    if (one.do === 'set') await history.set(one.store)
    else if (one.do === 'remember') await history.remember()
    else if (one.do === 'erase') await history.eraseIn(one.store, one.nth)
    else if (one.do === 'fork') await history.startOrFork(one.nth, one.at)
    else if (one.do === 'sign') await process.signer.sign()
    else if (one.do === 'anchor') history.anchor(await process.signer.sign())
    else if (one.do === 'rotate') await process.signer.sign().then(() => process.signer.rotate(user))
    else if (one.do === 'restart') await again()
    else if (one.do === 'kill') {
      await again(one)
      await history.set('a')
      await process.signer.sign().catch(() => {})
      await again()
    } else {
      await ended()
      if (one.do === 'no key') history.keys = []
      else if (one.do === 'rebuild') {
        history.tree.tree = null
        history.tree.hashes.clear()
        history.tree.leaves.length = 0
      } else {
        const { events } = await history.backup()
        await history.restoreLog({ events: events.slice(0, Math.max(1, events.length - one.events)) })
        await history.accept({ kept: one.known ? await history.keptLeaves() : undefined })
      }
      process = history.process()
    }
  }
  history.anchor(await process.signer.sign())
  await ended()
  return history
}

/** What verification says of an honest history: nothing. */
export async function alarms(history: History): Promise<readonly unknown[]> {
  const { problems, losses } = await history.verify()
  const changed = losses.filter(({ kept, head }) => head !== null && head.size <= kept)
  return [
    ...problems,
    ...changed,
    ...(await history.problems()),
    ...history.warnings.filter((text) => !text.endsWith('killed')),
  ]
}

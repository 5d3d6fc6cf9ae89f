import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { covers, erasedBefore, NOTHING_KEPT } from '../../../domain/access/keeping.ts'
import { Keeping } from '../../../domain/access/runtime/keeping.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import { erasedFact } from '../../../domain/log/erased.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import { ContextStores } from '../../../domain/store/runtime/context-stores.ts'
import { StreamError } from '../../../domain/stream/errors.ts'
import { Streams } from '../../../domain/stream/runtime/streams.ts'
import { MemoryBlobs } from '../../support/harness.ts'
import { law } from '../../support/laws.ts'
import { standing } from '../../support/time/standing-clock.ts'

const STORES = ['a', 'b'] as const
const IDS = ['00000001', '00000002', '00000003'] as const

const Step = fc.oneof(
  fc.record({ do: fc.constant('set'), store: fc.constantFrom(...STORES), hold: fc.constantFrom(...IDS) }),
  fc.record({ do: fc.constant('lift'), store: fc.constantFrom(...STORES), hold: fc.constantFrom(...IDS) }),
  fc.record({
    do: fc.constantFrom('write', 'erase'),
    store: fc.constantFrom(...STORES),
    hold: fc.constantFrom(...IDS),
  }),
)

/** Waits until other work had its turn this many times. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

/** A log whose appends begin after some other work, so that requests overlap. */
function slow(log: MemoryLog, waits: readonly number[]): EventLog {
  let appends = 0
  return Object.assign(Object.create(log) as EventLog, {
    logId: log.logId,
    erases: true,
    append: async (...args: Parameters<MemoryLog['append']>) => {
      await turns(waits[appends++ % waits.length]!)
      return log.append(...args)
    },
    ...Object.fromEntries(
      (['head', 'read', 'readAll', 'floor', 'streams'] as const).map((name) => [name, log[name].bind(log)]),
    ),
  })
}

async function worldOf(waits: readonly number[]) {
  const log = new MemoryLog()
  const blobs = new MemoryBlobs()
  let drawn = 0
  const random = { bytes: (length: number) => Uint8Array.from({ length }, (_, at) => (++drawn * 31 + at) % 256) }
  const hide = async <T>(value: T) => value
  const ports = { log: slow(log, waits), blobs, random, clock: standing(Date.UTC(2026, 5, 1)), hide }
  const keeping = new Keeping({ ...ports, streams: () => streams })
  const streams = new Streams({ ...ports, holds: keeping }, AGGREGATES)
  const stores = new ContextStores({ ...ports, holds: keeping })
  const by = { kind: 'user', id: 'ann' } as const
  for (const store of STORES) await stores.open(store, by).set('x', 'text')
  let asked = 0
  const perform = ({ do: what, store, hold }: { do: string; store: string; hold: string }): Promise<unknown> => {
    const asking = { by, commandId: `request:${++asked}` }
    if (what === 'write') return stores.open(store, by).set('x', `text ${asked}`)
    if (what === 'erase') return stores.erase(store, null, { reason: 'x' }, { by })
    if (what === 'lift') return keeping.change({ kind: 'lift_hold', hold, reason: null }, asking)
    return keeping.change({ kind: 'set_hold', hold, of: `context-${store}`, reason: 'a matter' }, asking)
  }
  return { log, perform }
}

it('nothing that is held is erased, in whatever order and overlap holds are set, lifted and bodies erased', async () => {
  let [erasures, refusals] = [0, 0]
  const steps = fc.array(Step, { minLength: 4, maxLength: 24 })
  const waits = fc.array(fc.nat(4), { minLength: 1, maxLength: 8 })
  await law(fc.tuple(steps, waits, fc.array(fc.nat(12), { maxLength: 6 })), 1_200, async ([all, delays, starts]) => {
    const { log, perform } = await worldOf(delays)
    const expected = (error: unknown) => {
      if (!(error instanceof StreamError)) throw error
      if (error.code === 'HELD') refusals++
      expect(['HELD', 'HOLD_EXISTS', 'HOLD_UNKNOWN']).toContain(error.code)
    }
    const begin = async (step: (typeof all)[number], at: number) => {
      await turns(starts[at % starts.length]!)
      await perform(step).catch(expected)
    }
    if (starts.length > 0) await Promise.all(all.map(begin))
    else for (const step of all) await perform(step).catch(expected)
    const held = new Map<string, string>()
    for await (const page of log.readAll(null))
      for (const event of page) {
        const { type, stream } = event.header
        const body = event.body && JSON.parse(new TextDecoder().decode(unsalted(event.body)))
        if (type === 'hold_set') held.set(body.hold, body.of)
        if (type === 'hold_lifted') held.delete(body.hold)
        if (erasedFact(event) === null) continue
        erasures++
        expect([...held.values()], `${stream} was erased while it was held`).not.toContain(stream)
      }
  })
  expect(Math.min(erasures, refusals)).toBeGreaterThan(20)
}, 60_000)

it('a hold on a run covers every stream of it, and one on a fork the part that it continues', () => {
  const revision = fc.nat(20)
  const ids = fc.constantFrom('r', 's', 'child')
  fc.assert(
    fc.property(ids, fc.constantFrom('agent', 'external'), ids, revision, revision, (run, kind, id, to, at) => {
      const doomed = { stream: `${kind}-${id}`, run, revisions: [at] }
      expect(covers('agent-r', [], doomed)).toBe(run === 'r' || doomed.stream === 'agent-r')
      const source = [{ stream: 'agent-s', to }]
      const isPart = doomed.stream === 'agent-s' && at <= to
      expect(covers('agent-r', source, doomed)).toBe(run === 'r' || doomed.stream === 'agent-r' || isPart)
      // A document of the same name is another stream.
      expect(covers('document-r', [], doomed)).toBe(false)
      expect(covers('agent-r', [], { stream: 'document-r', run: null, revisions: [at] })).toBe(false)
    }),
  )
})

it('a retention concerns its subject alone, and nothing younger than its days', () => {
  const now = Date.UTC(2026, 10, 28)
  fc.assert(
    fc.property(
      fc.option(fc.nat(3_000)),
      fc.nat(4_000 * 86_400),
      fc.integer({ min: -1, max: 1 }),
      (days, far, near) => {
        // Every second age is at the limit.
        const age = days === null || far % 2 === 0 ? far : days * 86_400 + near
        const change = { by: 'user:ann', at: 0 }
        const state = { ...NOTHING_KEPT, retention: { run: { of: 'run' as const, days, ...change } } }
        const before = erasedBefore(state, 'run', now)
        expect(before !== null && now - age * 1_000 < before).toBe(days !== null && age > days * 86_400)
        expect(erasedBefore(state, 'store', now)).toBeNull()
      },
    ),
  )
})

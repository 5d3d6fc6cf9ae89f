import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentBodies } from '../../../domain/agent/events/events.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { runs, tape } from '../../support/projections/fc.ts'
import { type Dump, folded, type TablesKit } from '../../support/projections/kit.ts'
import { MemoryLog } from '../../support/projections/memory-log.ts'
import { tell } from '../../support/projections/tell.ts'

/** Columns with words of people, models and tools, and columns that the erasure itself changes. */
const SAID: ReadonlySet<string> = new Set(
  (
    'preview erased created changed message summary next_steps error partial_output title path content hash size ' +
    'mime_type reason decision_reason name value evidence workspace revision updated_at'
  ).split(' '),
)
/** Tables whose rows no erasure may make more or fewer, without what was said. */
const unsaid = ({
  erasures: _,
  position: __,
  streams: ___,
  context_variables: ____,
  event_rows: _____,
  touched_files: ______,
  run_texts: _______,
  ...tables
}: Dump): Dump =>
  Object.fromEntries(
    Object.entries(tables).map(([table, rows]) => [
      table,
      rows.map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !SAID.has(column)))),
    ]),
  )

export function lawsContract(kit: TablesKit): void {
  it('the stories of these laws hold every stored type, erased bodies, forks and children', () => {
    const types = new Set<string>()
    let erased = 0
    for (const numbers of fc.sample(tape, { numRuns: 40, seed: 7 })) {
      const { log } = tell(numbers)
      for (const event of log.originals) types.add(event.header.type)
      erased += log.events.filter((event) => event.erased).length
    }
    // A late outcome changes no row; messages have a test of their own (tree.ts).
    expect(
      Object.keys(agentBodies)
        .filter((type) => !types.has(type) && !/^message_|^topic_|^subscription_/.test(type))
        .sort(),
    ).toEqual(['late_outcome'])
    expect(erased).toBeGreaterThan(60)
  })

  describe('any batching, redelivery or restart gives the same tables', () => {
    it('in pages of any length, with restarts anywhere', async () => {
      await fc.assert(
        fc.asyncProperty(
          tape,
          fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
          fc.array(fc.nat(400)),
          async (numbers, sizes, stops) => {
            const { log } = tell(numbers)
            const whole = await folded(log, kit)
            let i = 0
            log.pages = () => sizes[i++ % sizes.length]!
            const tables = await kit.fresh()
            for (const stop of [...stops.sort((a, b) => a - b), Number.MAX_SAFE_INTEGER]) {
              const store = await tables.open()
              log.visible = stop
              await new Projector({ log, blobs: log.blobs, store }).catchUp()
              await store.close()
            }
            expect(await tables.dump()).toEqual(whole)
          },
        ),
        runs(kit.cases(15)),
      )
    })

    it('with events delivered again', async () => {
      await fc.assert(
        fc.asyncProperty(tape, fc.array(fc.nat(5), { minLength: 1 }), async (numbers, overlaps) => {
          const { log } = tell(numbers)
          const whole = await folded(log, kit)
          let i = 0
          log.pages = () => 6
          log.overlap = () => overlaps[i++ % overlaps.length]!
          expect(await folded(log, kit)).toEqual(whole)
        }),
        runs(kit.cases(15)),
      )
    })
  })

  it('what an erasure leaves is counted, billed and placed as the whole was', async () => {
    await fc.assert(
      fc.asyncProperty(tape, async (numbers) => {
        const { log, actors } = tell(numbers, false)
        const before = unsaid(await folded(log, kit))
        for (const actor of actors) if (actor.finished) actor.eraseAll()
        expect(unsaid(await folded(log, kit))).toEqual(before)
      }),
      runs(kit.cases(25)),
    )
  })

  describe('rebuild from zero = live', () => {
    it('also where bodies were erased while the tables followed', async () => {
      await fc.assert(
        fc.asyncProperty(tape, fc.integer({ min: 1, max: 40 }), async (numbers, size) => {
          const told = tell(numbers).log
          const tables = await kit.fresh()
          const store = await tables.open()
          const log = new MemoryLog()
          const projector = new Projector({ log, blobs: told.blobs, store })
          // Appended event by event as it happened, so that bodies are seen before they are erased.
          for (const [i, event] of told.originals.entries()) {
            await log.append(event.header.stream, event.header.revision - 1, [event])
            if (i % size === 0) await projector.catchUp()
          }
          await projector.catchUp()
          await store.close()
          Object.assign(log.blobs, { held: told.blobs.held })
          expect(await tables.dump()).toEqual(await folded(log, kit))
        }),
        runs(kit.cases(15)),
      )
    })
  })
}

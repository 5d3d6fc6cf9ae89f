import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryLog } from '../../adapters/memory/log.ts'
import { Projector } from '../../projections/engine/projector/projector.ts'
import { interleaving, play } from '../support/documents/interleaving.ts'
import { MemoryBlobs } from '../support/harness.ts'
import { BEFORE } from '../support/log/sealing.ts'
import { sqliteKit } from '../support/projections/kit.ts'
import { property } from '../support/property.ts'

test('the tables of documents are the same however they caught up, and after a rebuild', async () => {
  await fc.assert(
    fc.asyncProperty(interleaving, fc.uniqueArray(fc.nat(12)), async (steps, stops) => {
      const log = new MemoryLog({ clock: BEFORE })
      const blobs = new MemoryBlobs()
      const catchUp = async (tables: Awaited<ReturnType<typeof sqliteKit.fresh>>) => {
        const store = await tables.open()
        await new Projector({ log, blobs, store }).catchUp()
        await store.close()
      }
      const followed = await sqliteKit.fresh()
      // A projector that ends and begins again somewhere among the edits.
      const after = (n: number) => (stops.includes(n) ? catchUp(followed) : Promise.resolve())
      const { answers, frontier } = await play(log, steps, { blobs, after })
      await catchUp(followed)
      const rebuilt = await sqliteKit.fresh()
      await catchUp(rebuilt)
      const dump = await followed.dump()
      expect(await rebuilt.dump()).toEqual(dump)
      expect(dump.documents).toMatchObject([{ title: 'Plan', frontier, incomplete_from: null }])
      expect(dump.envelopes!.map(({ status }) => status)).toEqual(answers)
    }),
    property(12),
  )
})

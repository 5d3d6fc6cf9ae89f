import type { DatabaseSync, StatementSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ensureFile, openToWrite } from '../../../../adapters/sqlite/log/connection.ts'
import { DiskUsage, sizesOf } from '../../../../adapters/sqlite/log/usage.ts'
import { LogWriter } from '../../../../adapters/sqlite/log/writer.ts'
import { tempFolder } from '../../../support/folders.ts'
import { NEW, Sealer, tipOf } from '../../../support/log/sealing.ts'

if (process.env.FC_SEED) fc.configureGlobal({ seed: Number(process.env.FC_SEED) })

const diskFull = () => Object.assign(new Error('database or disk is full'), { errcode: 13 })

/** The database, but for commits that find no room where `fails` says so. */
const withFailingCommit = (db: DatabaseSync, fails: () => boolean): DatabaseSync =>
  new Proxy(db, {
    get(target, name) {
      if (name !== 'prepare') {
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      }
      return (sql: string): Pick<StatementSync, 'run'> => {
        const statement = target.prepare(sql)
        if (sql !== 'COMMIT') return statement
        return {
          run: () => {
            if (fails()) throw diskFull()
            return statement.run()
          },
        }
      }
    },
  })

/** The counters as recomputed from the events. */
function recounted(db: DatabaseSync) {
  db.exec('BEGIN; DELETE FROM usage; UPDATE usage_upto SET position = 0')
  try {
    return sizesOf(db)
  } finally {
    db.exec('ROLLBACK')
  }
}

const step = fc.record({
  run: fc.constantFrom('a', 'b'),
  events: fc.integer({ min: DiskUsage.EVERY / 2, max: DiskUsage.EVERY + 9 }),
  commitFails: fc.boolean(),
})

test('after any commit that failed the counters equal a recount', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 4, maxLength: 8 }), (steps) => {
      const folder = tempFolder()
      ensureFile(folder)
      const db = openToWrite(folder)
      try {
        let fail = false
        const writer = new LogWriter(
          withFailingCommit(db, () => fail),
          folder,
        )
        const sealer = new Sealer()
        const tips = new Map<string, typeof NEW>()
        steps.forEach(({ run, events, commitFails }, id) => {
          const tip = tips.get(run) ?? NEW
          const stream = `agent-${run}`
          const drafts = Array.from({ length: events }, () => ({}))
          const batch = sealer.batch(stream, tip, drafts)
          fail = commitFails
          const [outcome] = writer.commit([{ id, stream, expected: tip.revision, batch }])
          expect(outcome !== undefined && 'failure' in outcome).toBe(commitFails)
          if (!commitFails) tips.set(run, tipOf(batch))
          expect(sizesOf(db)).toEqual(recounted(db))
        })
      } finally {
        db.close()
      }
    }),
    { numRuns: 12 },
  )
})

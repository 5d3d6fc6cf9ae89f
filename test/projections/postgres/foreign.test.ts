import { describe, expect, it } from 'vitest'
import { rebuildElsewhere } from '../../../projections/engine/other-process.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { code, numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { Actor } from '../../support/projections/story.ts'
import { tell } from '../../support/projections/tell.ts'

describeWithSharedPostgres('PostgreSQL', (server) => {
  const { zero, open } = rebuilding(server)

  describe('tables that are not this program’s', () => {
    it.each([
      [
        'a column is another',
        (live: string) =>
          `alter table ${live}.inputs rename preview to text; alter table ${live}.inputs add preview bytea`,
      ],
      [
        'a column wants to be filled',
        (live: string) =>
          `alter table ${live}.due add mine int; delete from ${live}.due; alter table ${live}.due alter mine set not null`,
      ],
      [
        'rows mean something else',
        (live: string) => `update ${live.replace(/_\d+$/, '_control')}.generations set meaning = 0`,
      ],
    ])('%s: they are made anew at the next start, which is told', async (_, damage) => {
      const { log } = tell(numbers)
      const first = await open(log)
      await first.close()
      await first.pool.query(damage(await first.live()))
      const { projections, dump, there } = await open(log, first.schema)
      expect(projections.status().notice).toMatch(/anew|rebuild/)
      expect(await dump()).toEqual(await zero(log))
      expect(await there()).toEqual([first.schema, `${first.schema}_2`, `${first.schema}_control`])
    })

    it('of another log are left alone, whatever else is amiss with them, until that is asked for', async () => {
      const { log } = tell(numbers)
      const first = await open(log)
      await first.close()
      const { pool, schema, home } = first
      await pool.query(`update ${await first.live()}.position set log_id = 'other'`)
      const before = await first.dump()
      const sources = { log, blobs: log.blobs }
      for (const meaning of ['meaning', '0']) {
        await pool.query(`update ${schema}_control.generations set meaning = ${meaning}`)
        await expect(open(log, schema)).rejects.toEqual(code('LOG_OTHER'))
        await expect(open(log, schema)).rejects.toThrow(
          `of the log other, and the event store holds the log ${log.logId};`,
        )
        await expect(rebuildElsewhere(home, sources)).rejects.toThrow(/KEEPUP_EVENTSTORE.*keepup rebuild --take-over/)
      }
      expect(await first.dump()).toEqual(before)
      expect(await first.there()).toEqual([schema, `${schema}_1`, `${schema}_control`])
      const report = { switched: true, differences: null, events: log.events.length }
      expect(await rebuildElsewhere(home, sources, { takeOver: true })).toEqual(report)
      const { dump } = await open(log, schema)
      expect(await dump()).toEqual(await zero(log))
    })

    it('of a newer program are left alone', async () => {
      const { log } = tell(numbers)
      const first = await open(log)
      await first.close()
      await first.pool.query(`update ${first.schema}_control.generations set meaning = 999`)
      await expect(open(log, first.schema)).rejects.toEqual(code('SCHEMA_NEWER'))
      expect(await first.there()).toEqual([first.schema, `${first.schema}_1`, `${first.schema}_control`])
    })

    it('altered while they are written and read: named, with what to do', async () => {
      const { log } = tell(numbers)
      const { pool, projections, live, dump } = await open(log)
      await pool.query(`alter table ${await live()}.runs drop column created_by cascade`)
      const actor = new Actor(log, () => Date.UTC(2027, 0, 1), 'new', 'new')
      actor.start()
      await expect(projections.catchUp()).rejects.toEqual(code('SCHEMA_OTHER'))
      await expect(projections.catchUp()).rejects.toThrow(/created_by.*rebuild/)
      const read = projections.read((db) => db.selectFrom('runs').select('created_by').execute())
      await expect(read).rejects.toEqual(code('SCHEMA_OTHER'))
      expect(await projections.rebuild()).toMatchObject({ switched: true, differences: null })
      expect(await dump()).toEqual(await zero(log))
    })

    it('altered while a projector follows the log: made anew by itself, which is told', async () => {
      const { log } = tell(numbers)
      const { pool, projections, live, dump } = await open(log)
      await pool.query(`alter table ${await live()}.runs drop column created_by cascade`)
      const end = new AbortController()
      const running = projections.run(end.signal)
      new Actor(log, () => Date.UTC(2027, 0, 1), 'new', 'new').start()
      await expect.poll(() => projections.status().notice).toMatch(/created_by.*rebuild/)
      await projections.caughtUpTo(await log.headCursor())
      end.abort()
      await running
      expect(await dump()).toEqual(await zero(log))
    })
  })
})

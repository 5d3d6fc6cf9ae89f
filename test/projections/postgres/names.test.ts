import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { runs } from '../../support/projections/fc.ts'
import { numbers, rebuilding } from '../../support/projections/rebuilding.ts'
import { tell } from '../../support/projections/tell.ts'

const accepted = (namespace: string) => ConfigSchema.shape.namespace.safeParse(namespace).success

describeWithSharedPostgres('namespaces on PostgreSQL', (server) => {
  const { open, schemas } = rebuilding(server)

  it('each that the configuration accepts can be used, also a word of SQL (law)', async () => {
    const { rows } = await schemas.pool().query<{ word: string }>('select word from pg_get_keywords()')
    const words = rows.map(({ word }) => word).filter(accepted)
    expect(words).toContain('user')
    const { log } = tell(numbers.slice(0, 60))
    const left = new Set(words)
    const word = fc.oneof(fc.constantFrom('user', 'select', 'table', 'default'), fc.constantFrom(...words))
    await fc.assert(
      fc.asyncProperty(word, async (namespace) => {
        if (!left.delete(namespace)) return
        const { projections, pool, home, close } = await open(log, namespace)
        expect(await projections.rebuild()).toMatchObject({ switched: true })
        const count = async (view: string) =>
          (await pool.query(`select count(*)::int as n from "${namespace}".${view}`)).rows[0].n
        expect(await count('runs')).toBeGreaterThan(0)
        expect(await home.grantAuditors()).toEqual({ role: `${namespace}_auditor`, made: true })
        await close()
      }),
      { ...runs(3), endOnFailure: true },
    )
  })
})

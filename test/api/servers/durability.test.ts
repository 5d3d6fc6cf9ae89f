import { afterAll, expect, it } from 'vitest'
import { unsafeIn } from '../../../api/process/servers/durability.ts'
import { openPool } from '../../../projections/postgres.ts'
import { describeWithPostgres } from '../../support/postgres/postgres.ts'
import { cliOf, deployment } from './deployment.ts'

describeWithPostgres('a PostgreSQL that may lose what it has acknowledged', (server) => {
  const { doctor } = cliOf(deployment(), server)
  const inNewSession = async <T>(work: (pool: ReturnType<typeof openPool>) => Promise<T>): Promise<T> => {
    const pool = openPool({ url: server().url, max: 1 })
    try {
      return await work(pool)
    } finally {
      await pool.shut()
    }
  }
  const set = async (text: string, expected: readonly string[]) => {
    await inNewSession(async (pool) => {
      for (const one of text.split(';')) await pool.query(one)
      await pool.query('select pg_reload_conf()')
    })
    // The server hears of it a moment later.
    while (String(await inNewSession(unsafeIn)) !== String(expected)) {}
  }
  afterAll(() => set('alter system reset all; alter role keepup reset all', []))

  it.each([
    ['fsync', 'broken'],
    ['full_page_writes', 'broken'],
    ['synchronous_commit', 'warning'],
  ] as const)('%s = off is told by doctor as a danger', async (name, state) => {
    expect((await doctor()).of('durability')).toBeUndefined()
    await set(
      name === 'synchronous_commit' ? `alter role keepup set ${name} = off` : `alter system set ${name} = off`,
      [name],
    )
    const { code, of } = await doctor()
    const todo = expect.stringContaining(`set ${name} = on`)
    expect(of('durability')).toMatchObject({ state, found: expect.stringContaining(`${name} = off`), todo })
    if (state === 'broken') expect(code).toBe(1)
    await set('alter system reset all; alter role keepup reset all', [])
  })
})

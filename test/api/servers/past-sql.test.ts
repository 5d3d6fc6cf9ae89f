import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { askSql } from '../../../api/operations/sql/ask.ts'
import { SqlQuestion } from '../../../api/operations/sql/schemas.ts'
import { loadConfig } from '../../../api/process/config/settings.ts'
import { openServices } from '../../../api/process/open-services.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { cursorOf, eventsIn } from '../support/http.ts'
import { cliOf, deployment } from './deployment.ts'

const BY = { kind: 'user', id: 'ann' } as const

describeWithSharedPostgres('SQL at a past position on servers', (server) => {
  const { folder, eventstore } = deployment()
  const { env } = cliOf({ folder, eventstore }, server)

  it('shows the tables as they were, and the difference of two positions', async () => {
    const config = loadConfig({ flags: { data: folder.data }, env: env({ KEEPUP_NAMESPACE: 'past' }) })
    const services = await openServices(config, 'owner', { autoDrive: false }, { tell: () => {} })
    onTestFinished(() => services.close())
    for (let n = 0; n < 6; n += 1) await services.contexts.open('desk', BY).set(`k${n % 3}`, n)
    const set = (await eventsIn(services)).filter(({ header }) => header.type === 'variable_set')
    const [at, to] = [set[1]!, set[4]!].map((event) => cursorOf(services, event)) as [string, string]
    const ask = async (sql: string, more: object = {}) =>
      (await askSql(services, SqlQuestion.parse({ sql, at, ...more }))).rows
    expect(await ask("select payload from events where event_type = 'variable_set' order by id")).toHaveLength(2)
    const variables = `select v.key, json_extract(e.payload, '$.value') as value from stored_variables v
      join events e on e.stream = 'context-' || v.store and e.revision = v.revision order by v.key`
    expect(await ask(variables)).toEqual([
      ['k0', 0],
      ['k1', 1],
    ])
    expect(await ask(variables, { to, key: ['key'] })).toEqual([
      ['before', 'k0', 0],
      ['after', 'k0', 3],
      ['before', 'k1', 1],
      ['after', 'k1', 4],
      ['added', 'k2', 2],
    ])
    const files = join(tmpdir(), `keepup-past-${services.holder}`)
    expect(existsSync(files)).toBe(true)
    await services.close()
    expect(existsSync(files)).toBe(false)
  })
})

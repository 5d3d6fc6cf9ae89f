import { expect, it, onTestFinished } from 'vitest'
import { agentVersions } from '../../../domain/agent/events/events.ts'
import { upcasters } from '../../../domain/agent/events/upcasters.ts'
import { describeWithSharedPostgres } from '../../support/postgres/postgres.ts'
import { world } from '../../support/projections/family.ts'
import { rebuilding } from '../../support/projections/rebuilding.ts'

/** From here on this program has another version of `user_input`. */
function newVersion() {
  const text = ({ text }: { text: string }) => ({ text: `brought up: ${text}` })
  Object.assign(upcasters, { user_input: { 1: text } })
  Object.assign(agentVersions, { user_input: 2 })
  onTestFinished(() => {
    delete upcasters.user_input
    Object.assign(agentVersions, { user_input: 1 })
  })
}

function story() {
  const { log, actor } = world()
  const agent = actor('a')
  agent.start()
  agent.user('user_input', { text: 'hush' })
  agent.beginTurn()
  agent.answer([])
  agent.endTurn('text')
  return { log, agent }
}

describeWithSharedPostgres('bodies of an older version', (server) => {
  const { open } = rebuilding(server)

  it('are brought up in tables that an older program made, beside what was recorded', async () => {
    const { log } = story()
    const first = await open(log)
    await first.close()
    newVersion()
    const { projections, pool, schema } = await open(log, first.schema)
    expect(projections.status().notice).toMatch(/older meaning/)
    const kept = `select payload, current from ${schema}.event_rows where type = 'user_input'`
    expect((await pool.query(kept)).rows).toEqual([
      { payload: '{"text":"hush"}', current: '{"text":"brought up: hush"}' },
    ])
    const { rows } = await pool.query(`select state_blob from ${schema}.checkpoints`)
    expect(JSON.parse(rows[0].state_blob).messages[0]).toEqual({ role: 'user', content: 'brought up: hush' })
  })

  it.each([[], [1]])('are gone with an erasure, also where it could read nothing of them', async (...lost) => {
    newVersion()
    const { log, agent } = story()
    const { projections, pool, schema } = await open(log)
    agent.erase([1], lost)
    await projections.catchUp()
    const { rows } = await pool.query(`select row_to_json(e) as row from ${schema}.event_rows e`)
    expect(rows).toHaveLength(log.events.length)
    expect(JSON.stringify(rows)).not.toContain('hush')
    expect(JSON.stringify((await pool.query(`select * from ${schema}.checkpoints`)).rows)).not.toContain('hush')
  })
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TreeAt } from '../../../api/operations/history/tree-at-schemas.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { treeSpec } from '../../support/tree/plans.ts'
import { Recorded } from '../../support/tree/recorded.ts'
import { play, ROOT } from '../../support/tree/walk.ts'
import { bodyOf, eventsIn, openWorld } from '../support/http.ts'

// A position of one agent is a moment of its whole tree.

const leaf = { rounds: [{ children: [], looks: 1 }], ends: 'completes' } as const
const talks = { rounds: [], ends: 'talks' } as const
const parent = { rounds: [{ children: [leaf], looks: 0 }], ends: 'completes' } as const

let world: Awaited<ReturnType<typeof openWorld>>
let log: RecordedEvent[]
beforeAll(async () => {
  world = await openWorld()
  const recorded = new Recorded({ startsAt: Date.now() + 1_000 })
  const spec = treeSpec({ policy: { mode: 'batch' } })
  play({ rounds: [{ children: [parent, talks], looks: 1 }], ends: 'completes' }, spec, [], undefined, {}, recorded)
  await recorded.into(world.services.log)
  log = (await eventsIn(world.services)).filter(({ header }) => header.agentId !== undefined)
})
afterAll(() => world.close())

const at = async (agent: string, event: number) => {
  const answer = await world.ask('GET', `/v1/runs/${ROOT}/tree/at?agent=${agent}&event=${event}`)
  expect(answer.status).toBe(200)
  return bodyOf<TreeAt>(answer)
}

describe('the tree at an event', () => {
  it('holds the agents that were born by then, each folded up to its last event before it in the log', async () => {
    const ids = new Set(log.map(({ header }) => header.agentId!))
    expect(ids.size).toBe(4)
    // Every agent's first and last events are among them, and moments in which several are at work.
    const some = log.filter(({ header }, nth) => nth % 5 === 0 || header.revision === 0)
    for (const { header, position } of [...some, log.at(-1)!]) {
      const expected = await Promise.all(
        [...ids].flatMap((id) => {
          const last = log.findLast((event) => event.header.agentId === id && event.position <= position)
          return last === undefined ? [] : stateOf(id, last.header.revision)
        }),
      )
      const found = await at(header.agentId!, header.revision)
      expect(new Map(found.agents.map((one) => [one.agentId, one]))).toEqual(
        new Map(expected.map((one) => [one.agentId, one])),
      )
    }
  })

  it('is the present tree at its end', async () => {
    const { agents } = await at(ROOT, log.findLast(({ header }) => header.agentId === ROOT)!.header.revision)
    expect(agents.map(({ status }) => status).sort()).toEqual(['completed', 'completed', 'completed', 'failed'])
    expect(agents.map(({ code }) => code).filter(Boolean)).toEqual(['NO_COMPLETION'])
  })

  it('names what is not there', async () => {
    const codes = async (path: string) => {
      const answer = await world.ask('GET', path)
      return [answer.status, (await bodyOf<{ code: string }>(answer)).code]
    }
    expect(await codes(`/v1/runs/${ROOT}/tree/at?event=9999`)).toEqual([404, 'POINT_UNKNOWN'])
    expect(await codes(`/v1/runs/${ROOT}/tree/at?agent=none&event=1`)).toEqual([404, 'NOT_FOUND'])
    expect(await codes('/v1/runs/none/tree/at?event=1')).toEqual([404, 'NOT_FOUND'])
    expect(await codes(`/v1/runs/${ROOT}/tree/at`)).toEqual([400, 'INVALID_REQUEST'])
  })
})

const STATUS: Record<string, string> = { DONE: 'completed', ERROR: 'failed', RECOVERY: 'recovering' }

/** By a fold of all events of the agent, which asks no table. */
async function stateOf(agentId: string, revision: number) {
  const { state } = await world.services.runtime.at(agentId, { revision })
  const { machine, turn, step, paused } = state
  const code = machine.status === 'ERROR' ? machine.code : null
  const status = STATUS[machine.status] ?? 'active'
  return { agentId, revision, turn, step, status, machineState: machine.status, paused, code }
}

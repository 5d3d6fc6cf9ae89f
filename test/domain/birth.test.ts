import { expect, test } from 'vitest'
import { agent } from '../../domain/agent/decide/aggregate.ts'
import { unsealed } from '../../domain/stream/sealing.ts'
import { testSpec } from '../support/harness.ts'

const context = {
  ...{ now: Date.UTC(2026, 0, 18), salt: () => new Uint8Array(16), jitter: () => 0, commandId: 'start' },
  by: { kind: 'user', id: 'u' } as const,
}
const start = { kind: 'start', spec: testSpec(), task: 'do it' } as const
const place = (id: string) => ({ stream: `agent-${id}`, revision: -1 })

test('an agent that is started without a birth is the root of a run that bears its id', () => {
  const { state, drafts } = agent.decide(null, place('a1'), start, context)
  expect(state).toMatchObject({ agentId: 'a1', runId: 'a1', depth: 0, parent: null })
  expect(drafts[0]!.event.body).not.toHaveProperty('parent')
})

test('an agent that is born belongs to the run of its parent, at the depth that its birth names', () => {
  const parent = { agentId: 'a1', toolCallId: 'a1.t1.c0' }
  const { state, drafts } = agent.decide(
    null,
    place('b2'),
    { ...start, birth: { runId: 'a1', depth: 2, parent } },
    context,
  )
  expect(state).toMatchObject({ agentId: 'b2', runId: 'a1', depth: 2, parent })
  const headers = unsealed(agent, drafts, {}).map(({ header }) => header)
  expect(headers.map(({ runId, agentId }) => [runId, agentId])).toEqual(drafts.map(() => ['a1', 'b2']))
  expect(headers.at(-1)).toMatchObject({ wakeAt: context.now })
})

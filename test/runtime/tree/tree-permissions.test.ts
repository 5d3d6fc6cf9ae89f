import { expect, test } from 'vitest'
import { says, use } from '../../support/tree/planned-model.ts'
import { HAND, worldSpec } from '../../support/tree/plans.ts'
import { ROOT, TreeWorld } from '../../support/tree/world.ts'

// A child has at most its parent's rights (CONTRACTS 3): a person can lift what its phase refuses, and nothing more.

const asks = (tool: string) =>
  use('request_permission', { tool, scope: 'run', until: '2h', reason: 'to go on' }, 'asks')

/** What comes of a child's request for a tool. */
async function childAsks(tool: string, policy: object) {
  const base = worldSpec({ policy: { mode: 'batch', ...policy } })
  const roles = { coder: HAND }
  const spec = { ...base, delegation: { ...base.delegation!, roles } }
  const world = new TreeWorld({ rounds: [], ends: 'completes' }, undefined, spec)
  world.answer = ({ messages }) => {
    const first = !messages.some(({ role }) => role === 'assistant')
    const isChild = JSON.stringify(messages[0]).includes('a part of it')
    if (!first) return says([use('complete_task', { summary: 'done' }, 'c')], 'tool_use')
    const delegates = use('delegate_to_agent', { role: 'coder', task: 'a part of it' }, 'd')
    return says([isChild ? asks(tool) : delegates], 'tool_use')
  }
  await world.live()
  const ids = await world.agents()
  const child = ids.find((id) => id !== ROOT)!
  return (await world.events(child)).flatMap((event) =>
    event.type === 'approval_requested' || event.type === 'tool_call_end' ? [event] : [],
  )
}

test('what the policy refuses to the parent is not asked for by a child', async () => {
  const [first] = await childAsks('ask_user', { deniedTools: ['ask_user'] })
  expect(first).toMatchObject({ type: 'tool_call_end', body: { error: { code: 'INVALID_ARGUMENTS' } } })
  expect(JSON.stringify(first!.body)).toContain('you have at most its rights')
})

test('what only its phase refuses is', async () => {
  const [first] = await childAsks('send', {})
  expect(first).toMatchObject({ type: 'approval_requested', body: { toolName: 'request_permission' } })
})

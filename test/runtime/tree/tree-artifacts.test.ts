import { expect, test } from 'vitest'
import { says, use } from '../../support/tree/planned-model.ts'
import { tablesOf } from '../../support/tree/tables.ts'
import { ROOT, TreeWorld } from '../../support/tree/world.ts'

test('an artifact of a child is registered with its parent, and stays that of the child', async () => {
  const world = new TreeWorld({ rounds: [], ends: 'completes' })
  world.answer = ({ messages }) => {
    const isChild = JSON.stringify(messages[0]).includes('a part of it')
    if (isChild) return says([use('complete_task', { summary: 'done', artifacts: ['notes.md'] }, 'c')], 'tool_use')
    const first = !messages.some(({ role }) => role === 'assistant')
    const delegates = use('delegate_to_agent', { role: 'coder', task: 'a part of it' }, 'd')
    return says([first ? delegates : use('complete_task', { summary: 'done' }, 'c')], 'tool_use')
  }
  expect(await world.live()).toEqual({ end: 'done' })
  const child = (await world.agents()).find((id) => id !== ROOT)!
  const own = (await world.events(child)).filter(({ type }) => type === 'artifact_registered')
  const registered = (await world.events(ROOT)).filter(({ type }) => type === 'child_artifact')
  expect(own).toHaveLength(1)
  expect(registered).toMatchObject([{ body: { childId: child, ...own[0]!.body } }])
  const tables = await tablesOf(world)
  const { data } = await tables.read((db) => db.selectFrom('artifacts').selectAll().execute())
  expect(data).toMatchObject([{ agent_id: child, registered_with: ROOT, run_id: ROOT, path: 'notes.md' }])
})

import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { PlanPersistence } from '../../../api/operations/plan/plan-persistence.ts'

it('empties the file of an erased plan for good, though the plan is still being written from before', async () => {
  let content: string | null = 'a secret'
  const files = new Map<string, string>()
  const gate = Promise.withResolvers<void>()
  let waits: Promise<void> | null = gate.promise
  const read = {
    caughtUp: async () => {},
    artifacts: async () => {
      const artifact = { id: 'x', type: 'plan', title: 'Plan', content }
      return {
        position: null,
        value: { artifacts: [{ artifact, agentId: 'a', runId: 'a', createdAt: '' }], next: null },
      }
    },
  }
  const store = {
    path: (_: string, name: string) => name,
    async write(_: string, name: string, text: string) {
      const before = waits
      waits = null
      await before
      files.set(name, text)
    },
  }
  const plans = new PlanPersistence(read as never, store, () => {})
  const shown = plans.keep('a')
  await turn()
  content = null
  const emptied = plans.empty('a')
  await turn()
  gate.resolve()
  expect((await shown)[0]).toMatchObject({ version: 1, content: 'a secret' })
  await emptied
  expect([...files]).toEqual([['a-v1.md', '']])
})

import { expect, test } from 'vitest'
import { AgentMailbox } from '../../domain/agent/runtime/mailbox.ts'
import { call, calls, completes, testSpec, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const MINE = new Error('mine')

test.each([
  [
    'at once',
    () => {
      throw MINE
    },
  ],
  [
    'in its promise',
    async () => {
      throw MINE
    },
  ],
])('a callback that throws %s ends nothing: the run is driven to its end, which then tells it', async (_, onEvent) => {
  const look = tool('look')
  const run = await given({ says: [calls(call('look')), completes()], tools: [look] })
  const driving = run.runtime.drive(run.runId, { signal: new AbortController().signal, onEvent })
  await expect(driving).rejects.toBe(MINE)
  expect((await run.state()).machine).toMatchObject({ status: 'DONE' })
  expect(look.ran).toHaveLength(1)
  expect(await run.drive()).toEqual({ end: 'done' })
})

test('what a listener throws is told, and what was recorded stays acknowledged', async () => {
  const warned: string[] = []
  const run = await given({ says: [completes()], ports: { warn: (_, text) => warned.push(text) } })
  const mailbox: AgentMailbox = new AgentMailbox('m1', run.ports)
  const heard: number[] = []
  mailbox.listen(() => {
    throw MINE
  })
  mailbox.listen((events) => heard.push(events.length))
  const start = { kind: 'start', spec: testSpec(), task: 'x' } as const
  const recorded = await mailbox.submit(start, { by: USER, commandId: 'c1' }, { fact: false })
  expect(recorded).toEqual({ revision: 1, recorded: true })
  expect(heard).toEqual([2])
  expect(warned).toEqual(['a listener failed: mine'])
})

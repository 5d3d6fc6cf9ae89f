import { expect, test } from 'vitest'
import { call, calls, completes, seededRandom, USER } from '../support/harness.ts'
import { given, tool } from '../support/story.ts'

const { signal } = new AbortController()

test('who was held right before an effect looks whether he still owns the agent, and performs nothing', async () => {
  let sent = 0
  const send = tool('send', { effect: 'irreversible' }, () => `sent ${++sent}`)
  const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let armed = true
  const crashPoint = async (name: string) => {
    if (!armed || name !== 'before_tool') return
    armed = false
    held.resolve()
    await gate.promise
  }
  const run = await given({ says: [calls(call('send')), completes()], tools: [send], ports: { crashPoint } })
  const first = run.drive()
  await held.promise
  const other = run.elsewhere({ random: seededRandom('b') })
  const waiting = await other.drive(run.runId, { signal })
  expect(waiting).toMatchObject({ end: 'waiting', for: 'doubt' })
  const [toolCallId] = (waiting as { toolCallIds: readonly string[] }).toolCallIds
  await other.execute(run.runId, { kind: 'resolve_doubt', toolCallId: toolCallId!, decision: 'run' }, { by: USER })
  expect(await other.drive(run.runId, { signal })).toEqual({ end: 'done' })
  expect(sent).toBe(1)
  gate.resolve()
  await first
  expect(sent).toBe(1)
})

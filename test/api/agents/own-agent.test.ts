import { expect, onTestFinished, test } from 'vitest'
import { openKeepUp } from '../../../api/index.ts'
import { tempFolder } from '../../support/folders.ts'
import { writeScript } from '../support/script.ts'

// CONTRACTS 13, Backends: keepup's own runtime is one of them. It has no external stream; DONE is code 0, ERROR is 1.

async function opened() {
  const root = tempFolder()
  const keepup = await openKeepUp({ data: `${root}/data`, model: writeScript(root) })
  onTestFinished(() => keepup.close())
  return keepup
}

test('a run that is DONE gives code 0, its summary and its events, which end before the completion settles', async () => {
  const keepup = await opened()
  const run = await keepup.runAgent('keepup', { prompt: 'finish it' }, 'ann')
  let settled = false
  void run.completion.then(() => {
    settled = true
  })
  const kinds: string[] = []
  for await (const { kind, agentKind } of run.events) {
    kinds.push(kind)
    expect([agentKind, settled]).toEqual(['keepup', false])
  }
  expect(kinds).toEqual(['Status', 'TextOutput', 'ToolCall', 'ToolResult', 'Status'])
  expect(await run.completion).toEqual({ status: { code: 0, signal: null }, success: true, finalText: 'finish it' })
  const again: string[] = []
  for await (const { kind } of run.events) again.push(kind)
  expect(again).toEqual(kinds)
  expect(await keepup.run(run.agentId)).toMatchObject({ status: 'completed', backend: null, ungoverned: false })
})

test('a run that ends in ERROR gives code 1, an Error event and no text', async () => {
  const keepup = await opened()
  const run = await keepup.runAgent('keepup', { prompt: 'fail' })
  expect(await run.completion).toEqual({ status: { code: 1, signal: null }, success: false, finalText: null })
  const kinds: string[] = []
  for await (const { kind } of run.events) kinds.push(kind)
  expect(kinds.at(-1)).toBe('Error')
})

test('cancel and the time limit end it; what it does not have is refused', async () => {
  const keepup = await opened()
  const run = await keepup.runAgent('keepup', { prompt: 'stall' })
  run.cancel('enough')
  run.cancel('enough')
  await expect(run.completion).rejects.toMatchObject({ code: 'Backend', message: 'cancelled' })
  const late = await keepup.runAgent('keepup', { prompt: 'stall', timeoutMs: 20 })
  await expect(late.completion).rejects.toMatchObject({ message: 'timed out after 20 ms' })
  const cancelOf = async ({ runId }: { runId: string }) => {
    const found = []
    for await (const event of keepup.follow(runId)) if (event.type === 'cancel_requested') found.push(event)
    return found.map(({ actor, payload }) => [actor.kind, payload?.reason])
  }
  expect(await cancelOf(run)).toEqual([['user', 'enough']])
  expect(await cancelOf(late)).toEqual([['system', 'timed out after 20 ms']])
  await expect(keepup.runAgent('keepup', { prompt: ' ' })).rejects.toMatchObject({ code: 'InvalidRequest' })
  await expect(keepup.runAgent('keepup', { prompt: 'x', env: { A: 'b' } })).rejects.toMatchObject({
    code: 'InvalidRequest',
  })
})

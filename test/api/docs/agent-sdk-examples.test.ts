import { join } from 'node:path'
import { expect, test } from 'vitest'
import { answer } from '../../../api/docs/examples/ai-sdk/main.ts'
import { openKeepUp } from '../../../api/index.ts'
import { aiModel } from '../../support/ai/model.ts'
import { tempFolder } from '../../support/folders.ts'
import { inProcess } from '../support/cli.ts'

const keepupIn = (args: readonly string[]) => inProcess(args, process.env as Record<string, string>)

test('the example of the AI SDK pays back what a person approves at the terminal', async () => {
  const data = join(tempFolder(), 'data')
  const script = [
    { tool: 'lookUp', input: { order: '42' } },
    { tool: 'refund', input: { order: '42', amount: 30 } },
    { text: 'The money is on its way.' },
  ]
  const answered = answer({ order: '42', question: 'Where is it?' }, { data, model: aiModel(script) as never })
  const listed = () => keepupIn(['approvals', '-o', 'json', '--data', data])
  await expect.poll(async () => (await listed()).out, { timeout: 30_000 }).toContain('refund')
  const [{ toolCallId }] = JSON.parse((await listed()).out) as [{ toolCallId: string }]
  expect(await keepupIn(['approve', toolCallId, '--data', data])).toMatchObject({ code: 0 })
  expect(await answered).toBe('The money is on its way.')
  const keepup = await openKeepUp({ data })
  try {
    const [run] = await Array.fromAsync(keepup.runs())
    expect(run).toMatchObject({ status: 'completed', task: 'Where is it?', own: { toolCalls: 2, modelCalls: 3 } })
  } finally {
    await keepup.close()
  }
})

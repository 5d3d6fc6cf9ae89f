import { expect, it, onTestFinished } from 'vitest'
import { openAuditSource } from '../../../../adapters/sqlite/log/audit.ts'
import { NEW, Sealer } from '../../../support/log/sealing.ts'
import { owner } from '../../../support/log/sqlite-log.ts'

it('auditors see the name that the model wrote for a tool that does not exist, as readers of events do', async () => {
  const log = await owner()
  const block = { type: 'tool_use', id: 'p', name: 'launch rocket', input: { to: 'moon' } }
  const argumentsRef = { revision: 0, block: 0 }
  const batch = new Sealer().batch('agent-a', NEW, [
    { type: 'model_call_end', body: { content: [block], calls: [{ block: 0, toolName: 'unknown' }] } },
    { type: 'tool_call_start', body: { toolName: 'unknown', argumentsRef } },
    { type: 'tool_call_end', body: { toolName: 'unknown', askedName: 'launch rocket' } },
  ])
  const { position } = await log.append('agent-a', -1, batch)
  const source = openAuditSource(log.folder, () => expect.fail('no body lies apart'))
  onTestFinished(() => source.close())
  expect(JSON.parse(source.shown(position - 1)!)).toMatchObject({
    toolName: 'launch rocket',
    arguments: { to: 'moon' },
  })
  expect(JSON.parse(source.shown(position)!)).toMatchObject({ toolName: 'launch rocket' })
})

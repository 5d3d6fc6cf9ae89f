import type { PermissionOption } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'
import { decidePermission } from '../../../adapters/agents/acp/permission.ts'

const option = (kind: PermissionOption['kind']): PermissionOption => ({ optionId: kind, name: kind, kind })

test.each([
  [['allow_once', 'allow_always', 'reject_once'], 'write a file'],
  [['allow_always', 'reject_once'], /^Approving counts for always: .* write a file$/],
  [['allow_once', 'reject_always'], /^Rejecting counts for always: .* write a file$/],
  [['allow_always', 'reject_always'], /^Approving and rejecting count for always: .* write a file$/],
] as const)('a question with the options %j says whether an answer counts for always', async (kinds, title) => {
  const asked: string[] = []
  const toolCall = { toolCallId: 'c', title: 'write a file', rawInput: {} }
  const request = { sessionId: 's', toolCall, options: kinds.map(option) }
  const { response } = await decidePermission(request, { prompt: 'go' }, async (one) => {
    asked.push(one.title)
    return 'approved'
  })
  expect(asked).toEqual([typeof title === 'string' ? title : expect.stringMatching(title)])
  expect(response.outcome).toMatchObject({ outcome: 'selected', optionId: kinds[0] })
})

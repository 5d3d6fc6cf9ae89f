import { expect, it } from 'vitest'
import { agentStatus } from '../../../api/cli/output/agent-status.ts'

const at = { status: 'active', code: null, paused: false, unreached: false, unmetGates: [], waiting: [] } as const
const shown = (part: object) => agentStatus({ ...at, ...part } as never)

it('an agent that nothing reaches does not stand as one that waits; its end says more than both', () => {
  const waiting = [{ agentId: 'a', for: 'input', toolCallId: null }]
  expect(shown({ waiting })).toBe('active, waits: input')
  expect(shown({ waiting, unreached: true })).toBe('active, not reached')
  expect(shown({ status: 'failed', code: 'MODEL_FAILED', unreached: true })).toBe('failed, MODEL_FAILED')
})

it('an agent that has ended names the gates that did not hold', () => {
  const unmetGates = ['tests_exist', 'lint']
  expect(shown({ status: 'completed', unmetGates })).toBe('completed, unmet gates: tests_exist, lint')
  expect(shown({ status: 'failed', code: 'X', unmetGates })).toBe('failed, X, unmet gates: tests_exist, lint')
})

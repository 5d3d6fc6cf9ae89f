import { describe, test } from 'vitest'
import { claudeCode } from '../../../adapters/agents/cli/claude-code.ts'
import { codex } from '../../../adapters/agents/cli/codex.ts'
import { gemini } from '../../../adapters/agents/cli/gemini.ts'
import { opencode } from '../../../adapters/agents/cli/opencode.ts'
import { backendCases } from '../../../adapters/agents/process/kit.ts'
import { CLAUDE, CODEX, GEMINI, OPENCODE } from '../../support/external/samples.ts'

// The kit that every backend passes, with a fake program.

const backends = [
  [claudeCode, CLAUDE],
  [codex, CODEX],
  [gemini, GEMINI],
  [opencode, OPENCODE],
] as const

for (const [agent, sample] of backends)
  describe(agent.kind, () => {
    for (const { name, check } of backendCases(agent, sample)) test.concurrent(name, check)
  })

describe('without a process namespace', () => {
  for (const { name, check } of backendCases(codex, CODEX, { namespace: false })) test.concurrent(name, check)
})

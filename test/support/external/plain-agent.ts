import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createCliBackend } from '../../../adapters/agents/process/cli-backend.ts'
import { fakeProgram, type Step } from '../../../adapters/agents/process/fake-steps.ts'
import type { HarnessOptions } from '../../../adapters/agents/process/harness.ts'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import { plainAgent } from './plain-agent-definition.ts'

export const say = (text: string): Step => ({ do: 'print', text: JSON.stringify({ say: text }) })
export const DONE: Step = { do: 'print', text: '{"done":true}' }

/** A temporary folder, and a backend whose program plays these steps. */
export function plainBackend(
  steps: (folder: string) => readonly Step[],
  more: Partial<HarnessOptions> = {},
): { folder: string; backend: AgentBackend; options: HarnessOptions } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'keepup-plain-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const options = { workspace: folder, graceMs: 50, program: fakeProgram(folder, steps(folder)), ...more }
  return { folder, options, backend: createCliBackend(plainAgent, options) }
}

/** A run that records its reports, for a backend without a gateway. */
export function heard(signal: AbortSignal = new AbortController().signal) {
  const texts: string[] = []
  return {
    texts,
    run: {
      agentId: 'x1',
      signal,
      emit: ({ events = [] }: { events?: readonly { text?: string; message?: string }[] }) => {
        texts.push(...events.map(({ text, message }) => text ?? message ?? ''))
        return undefined
      },
    },
  }
}

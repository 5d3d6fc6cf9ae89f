import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import type { Served } from '../browser/served.ts'

const piece = (text: string) => ({ kind: 'TextOutput', text, continues: true }) as const
const tokens = { inputTokens: 1_000, cachedInputTokens: 0, outputTokens: 100 }
const LONG = Array.from({ length: 400 }, (_, n) => `line ${n}`).join('\n')

/** An agent that streams its text, edits two files, uses two models, and can be continued. */
export const editingAgent: AgentBackend = {
  kind: 'fake',
  capabilities: ['agent_api.run', 'agent_api.session.resume.v1'],
  async start({ prompt }, { emit }) {
    const edit = { file_path: 'src/a.ts', old_string: 'one\n', new_string: 'two\n' }
    await emit({
      sessionId: 's1',
      events: [
        ...[piece('I change'), piece('`a.ts`'), piece('Then *all*'), piece('.')],
        { kind: 'ToolCall', data: { id: 't1', name: 'Edit', input: edit } },
        { kind: 'ToolResult', data: { id: 't1', success: true, output: 'done' } },
        { kind: 'ToolCall', data: { id: 't2', name: 'Write', input: { file_path: 'src/b.ts', content: LONG } } },
        { kind: 'ToolResult', data: { id: 't2', success: false, output: 'no' } },
      ],
      usage: {
        ...{ scope: 'run', ...tokens, cost: { nanoDollars: 3_000_000_000, scope: 'run' } },
        models: {
          scope: 'run',
          each: [
            { model: 'large-model', ...tokens, nanoDollars: 2_000_000_000 },
            { model: 'small-model', ...tokens, nanoDollars: 1_000_000_000 },
          ],
        },
      },
    })
    return { status: { code: 0, signal: null }, success: true, finalText: `did ${prompt}` }
  },
}

/** Starts a run of {@link editingAgent}, which the server must have, and waits until it is completed. */
export async function runEditingAgent(served: Pick<Served, 'ask' | 'workspace'>, task: string): Promise<string> {
  const body = { agent: 'fake', task, workspace: served.workspace() }
  const { runId } = await served.ask<{ runId: string }>('POST', '/v1/runs', body)
  for (;;) {
    const { run } = await served.ask<{ run: { status: string } }>('GET', `/v1/runs/${runId}`)
    if (run.status === 'completed') return runId
    await sleep(50)
  }
}

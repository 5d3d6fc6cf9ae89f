import type { KeepUpOptions } from '../../../api/index.ts'

/** A run whose agent delegates to Claude Code as the coder, once. */
export const DELEGATING = {
  settings: { agents: { roles: { coder: { kind: 'claude_code' } } } },
  scripts: {
    lead: {
      script: 1,
      turns: [
        { calls: [{ tool: 'delegate_to_agent', arguments: { role: 'coder', task: 'code it' } }] },
        { calls: [{ tool: 'complete_task', arguments: { summary: 'The lead is done.' } }] },
      ],
    },
  } satisfies KeepUpOptions['scripts'],
  start: (workspace: string) => ({
    ...{ task: 'lead', model: 'scripted:lead', workspace, key: 'k1' },
    policy: { mode: 'batch' as const, sandboxed: false, backends: ['claude_code'] },
  }),
}

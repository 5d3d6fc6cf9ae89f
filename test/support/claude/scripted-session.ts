import { appendFileSync } from 'node:fs'
import type { KeepUpForClaude, SessionStoreEntry } from '../../../api/library/claude-kit.ts'

export const KEY = { projectKey: 'p', sessionId: 's' }
export const TURNS = 5

const entry = (n: number, type: string): SessionStoreEntry => ({
  ...{ type, uuid: `e-${n}`, parentUuid: n === 0 ? null : `e-${n - 1}`, message: `entry ${n}` },
})

/**
 * A session of five turns as the SDK runs it: it loads the transcript, continues after its last entry, asks the hooks about
 * the tool of each turn and adds a line to the file `effects` for each tool that runs.
 */
export async function scriptedSession({ sessionStore, hooks }: KeepUpForClaude, effects: string): Promise<void> {
  const loaded = (await sessionStore.load(KEY)) ?? []
  const fire = (event: keyof typeof hooks, input: object) =>
    hooks[event][0]!.hooks[0]!(input as never, undefined, { signal: new AbortController().signal })
  for (let turn = Math.floor(loaded.length / 2); turn < TURNS; turn++) {
    const input = {
      ...{ session_id: 's', transcript_path: '/home/projects/p/s.jsonl', cwd: '/', tool_name: 'Bash' },
      ...{ tool_input: { command: `pay ${turn}` }, tool_use_id: `tu-${turn}` },
    }
    if (loaded.length <= turn * 2) await sessionStore.append(KEY, [entry(turn * 2, 'assistant')])
    const decision = await fire('PreToolUse', { ...input, hook_event_name: 'PreToolUse' })
    if (decision.hookSpecificOutput === undefined) {
      appendFileSync(effects, `pay ${turn}\n`)
      await fire('PostToolUse', { ...input, hook_event_name: 'PostToolUse', tool_response: 'paid' })
    }
    await sessionStore.append(KEY, [entry(turn * 2 + 1, 'user')])
  }
}

import type { Stores } from '../../../stream/runtime/ports.ts'
import type { AgentEvent, EventOf } from '../../events/events.ts'
import { history } from './history.ts'

/** A call that may have written files between two versions of them. `revision`: of its end, in the stream of `agentId`. */
export interface WritingCall {
  readonly agentId: string
  readonly revision: number
  readonly toolCallId: string
  readonly toolName: string
  /** The files that it says it has written; null: it does not say. */
  readonly files: readonly string[] | null
}

/** The files after a step, and the calls since the previous version that may have changed them. */
export interface FileVersion {
  readonly step: number
  readonly tree: string
  readonly calls: readonly WritingCall[]
}

/**
 * The distinct versions of the files up to a step, in order. The first version precedes all calls (step 0, no calls).
 */
export async function fileVersions(stores: Stores, agentId: string, to: number): Promise<readonly FileVersion[]> {
  const found: FileVersion[] = []
  /** Calls under way that do more than read: true where they run. */
  const running = new Map<string, boolean>()
  let calls: WritingCall[] = []
  const add = (step: number, tree: string) => {
    if (found.at(-1)?.tree !== tree) found.push({ step, tree, calls })
    calls = []
  }
  for await (const page of history(stores, agentId)) {
    for (const { event } of page) {
      const started = startedWith(event)
      if (started !== null && found.length === 0) add(0, started)
      const id = event.toolCallId ?? ''
      if (event.type === 'tool_call_start' && event.body.effect !== 'pure')
        running.set(id, event.body.intent || event.body.reused === true)
      if (event.type === 'tool_call_intent' && running.has(id)) running.set(id, true)
      if (event.type === 'tool_call_end') {
        if (event.body.step > to) return found
        if (running.get(id) === true) calls.push(writingCall(event, id))
        running.delete(id)
      }
      if (event.type !== 'workspace_versioned' || !('tree' in event.body)) continue
      add(event.body.step, event.body.tree)
    }
  }
  return found
}

function writingCall({ agentId, revision, body }: EventOf<'tool_call_end'>, toolCallId: string): WritingCall {
  const { toolName, created, changed } = body
  const files = created === undefined && changed === undefined ? null : [...(created ?? []), ...(changed ?? [])]
  return { agentId, revision, toolCallId, toolName, files }
}

const startedWith = (event: AgentEvent): string | null =>
  event.type === 'agent_started' ? (event.body.spec.workspace?.tree ?? null) : null

import type { Stores } from '../../../stream/runtime/ports.ts'
import type { AgentEvent } from '../../events/events.ts'
import { history } from './history.ts'

/** A call that ended between two versions of the files. `revision`: of its end, in the stream of `agentId`. */
export interface EndedCall {
  readonly agentId: string
  readonly revision: number
  readonly toolCallId: string
  readonly toolName: string
}

/** The files after a step, and the calls since the previous version; one of those calls changed the files. */
export interface FileVersion {
  readonly step: number
  readonly tree: string
  readonly calls: readonly EndedCall[]
}

/**
 * The distinct versions of the files up to a step, in order. The first version precedes all calls (step 0, no calls).
 */
export async function fileVersions(stores: Stores, agentId: string, to: number): Promise<readonly FileVersion[]> {
  const found: FileVersion[] = []
  let calls: EndedCall[] = []
  const add = (step: number, tree: string) => {
    if (found.at(-1)?.tree !== tree) found.push({ step, tree, calls })
    calls = []
  }
  for await (const page of history(stores, agentId)) {
    for (const { event } of page) {
      const started = startedWith(event)
      if (started !== null && found.length === 0) add(0, started)
      if (event.type === 'tool_call_end' && event.toolCallId !== undefined) {
        if (event.body.step > to) return found
        const { agentId: owner, revision, toolCallId, body } = event
        calls.push({ agentId: owner, revision, toolCallId, toolName: body.toolName })
      }
      if (event.type !== 'workspace_versioned' || !('tree' in event.body)) continue
      add(event.body.step, event.body.tree)
    }
  }
  return found
}

const startedWith = (event: AgentEvent): string | null =>
  event.type === 'agent_started' ? (event.body.spec.workspace?.tree ?? null) : null

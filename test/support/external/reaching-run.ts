import type { ExternalCommand } from '../../../domain/external/commands.ts'
import { toolCallId } from '../../../domain/log/ids.ts'
import { toolSpec } from '../harness.ts'
import { treeSpec } from '../tree/plans.ts'
import { Run } from './decider.ts'

const SPEC = treeSpec({
  tools: [
    toolSpec('look', { effect: 'pure' }),
    toolSpec('tidy', { effect: 'idempotent' }),
    toolSpec('send', { effect: 'irreversible' }),
    toolSpec('ask', { effect: 'irreversible' }),
    toolSpec('drop', { effect: 'irreversible' }),
  ],
  policy: { mode: 'batch', requiresApproval: ['ask'] },
})

/** The birth of a delegated run that can call these tools except `drop`. Each `ask` needs an approval. */
export const BORN: Extract<ExternalCommand, { kind: 'deliver_birth' }> = {
  kind: 'deliver_birth',
  origin: { stream: 'agent-root', revision: 7, bodyHash: '0'.repeat(64) },
  after: -1,
  birth: { runId: 'root', depth: 1, parent: { agentId: 'root', toolCallId: 'root.t1.c0', ancestors: [] } },
  spec: SPEC,
  task: 'mend it',
  backend: { kind: 'other', role: 'coder', extensions: {}, capabilities: [], tools: ['look', 'tidy', 'send', 'ask'] },
}

export const GO_ON: ExternalCommand = { kind: 'calls_go_on' }
export const ENDS: ExternalCommand = {
  kind: 'end',
  outcome: { outcome: 'exited', exit: { code: 0, signal: null }, success: true, finalText: 'done' },
}

/** The run under driver `d1`, with methods for its calls. */
export class ReachingRun extends Run {
  constructor(born: ExternalCommand = BORN) {
    super(born)
    this.claim('d1')
    this.decide({ kind: 'proceed' })
  }

  get open() {
    return this.state?.tools?.open ?? []
  }

  ask(name: string, args: Record<string, string> = {}) {
    const index = this.state!.tools!.asked
    return this.decide({ kind: 'call', index, name, arguments: args, paths: {} })
  }

  /** The id of the nth call. */
  id(index: number): string {
    return toolCallId(this.state!.agentId, 0, index)
  }

  /** The types of the events of calls so far. */
  ofCalls(): string[] {
    return this.events.filter(({ toolCallId }) => toolCallId !== undefined).map(({ type }) => type)
  }

  /** The outcomes of the calls, in order. */
  ends(): (string | boolean)[] {
    return this.events.flatMap((event) =>
      event.type === 'tool_call_end' ? [event.body.success || event.body.error!.code] : [],
    )
  }
}

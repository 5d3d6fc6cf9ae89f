import type { AgentServices } from '../../../domain/agent/runtime/types.ts'
import type { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'
import type { ApprovalRow, ReadModel } from '../../operations/read-model.ts'

/** A tool list from an external tool server. */
export interface ServerTools {
  readonly server: string
  /** The folder whose runs have these tools. Null: all runs. */
  readonly folder: string | null
  readonly tools: readonly ToolSpec[]
}

interface Parts {
  readonly runtime: Pick<AgentServices, 'toolsOffered'>
  readonly read: Pick<ReadModel, 'approvals' | 'caughtUp'>
  /** Called after a call was ended, because its run can continue. */
  wake(runId: string): void
  onFault(agentId: string, error: unknown): void
}

/**
 * Voids approvals when the tools of their calls change. A run that waits for a person has no driver that could notice
 * the change. A missed change does no harm, because a call checks its tool again before it runs.
 */
export class ChangedTools {
  readonly #parts: Parts
  #atWork: Promise<void> = Promise.resolve()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  offered(offered: ServerTools): void {
    const named = new Set(offered.tools.map(({ name }) => name))
    this.#atWork = this.#atWork
      .then(async () => {
        for (const approval of await this.#pending())
          if (named.has(approval.toolName)) await this.#tell(approval, offered)
      })
      .catch((error) => this.#parts.onFault(offered.server, error))
  }

  /** Resolves when all received changes are recorded. */
  settled(): Promise<void> {
    return this.#atWork
  }

  async #tell({ agentId, runId }: ApprovalRow, { tools, folder }: ServerTools): Promise<void> {
    const { runtime, wake, onFault } = this.#parts
    try {
      if (await runtime.toolsOffered(agentId, tools, folder)) wake(runId)
    } catch (error) {
      onFault(agentId, error)
    }
  }

  async #pending(): Promise<readonly ApprovalRow[]> {
    await this.#parts.read.caughtUp()
    const found: ApprovalRow[] = []
    for (let after: string | undefined; ; ) {
      const page = { state: 'pending', limit: 100, ...(after === undefined ? {} : { after }) } as const
      const { value } = await this.#parts.read.approvals(page)
      found.push(...value.approvals)
      if (value.next === null) return found
      after = value.next
    }
  }
}

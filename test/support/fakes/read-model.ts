import type { ApprovalRow, Bill, ReadModel, RunRow, Shown } from '../../../api/read-model.ts'
import { formatCursor } from '../../../domain/log/cursor.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import type { FakeLog } from './log.ts'
import { bodyOf } from './runtime.ts'

const NOTHING: Bill = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  nanoDollars: 0,
  modelCalls: 0,
  toolCalls: 0,
}

/** Stands in for the projections: answers by going through the whole log. */
export class FakeReadModel implements ReadModel {
  readonly #log: FakeLog

  constructor(log: FakeLog) {
    this.#log = log
  }

  async caughtUp(): Promise<void> {}

  async runs(page: { limit: number; after?: string; status?: string }) {
    const ids = [...new Set(this.#log.all.map((e) => e.header.runId))].reverse()
    const from = page.after === undefined ? 0 : ids.indexOf(page.after) + 1
    const rows = ids.map((id) => this.#row(id)).filter((r) => page.status === undefined || r.status === page.status)
    const runs = rows.slice(from, from + page.limit)
    return this.#shown({ runs, next: from + page.limit < rows.length ? runs.at(-1)!.runId : null })
  }

  async run(runId: string) {
    if (!this.#events(runId).length) return this.#shown(null)
    const run = this.#row(runId)
    const { own, total, status, turn, step, role } = run
    return this.#shown({
      run,
      tree: [{ agentId: runId, parentId: null, depth: 0, own, total, status, turn, step, role }],
    })
  }

  async approvals(query: { runId?: string; state?: string }) {
    const all = this.#approvals().filter(
      (a) => (!query.runId || a.runId === query.runId) && (!query.state || a.state === query.state),
    )
    return this.#shown(all)
  }

  async approval(toolCallId: string) {
    return this.#shown(this.#approvals().find((a) => a.toolCallId === toolCallId) ?? null)
  }

  async artifacts() {
    return this.#shown({ artifacts: [], next: null })
  }

  async checkpoints(agentId: string) {
    const rows = this.#steps(agentId).map((e) => ({
      id: `${agentId}#${bodyOf(e).step}`,
      threadId: agentId,
      step: Number(bodyOf(e).step),
      revision: e.header.revision,
      turn: e.header.turn,
      timestamp: e.header.timestamp,
    }))
    return this.#shown({ checkpoints: rows, next: null })
  }

  async checkpoint(agentId: string, step: number) {
    const found = this.#steps(agentId).find((e) => bodyOf(e).step === step)
    return this.#shown(found ? { threadId: agentId, step } : null)
  }

  async due() {
    return []
  }

  async nextDue() {
    return null
  }

  async status() {
    const position = (await this.runs({ limit: 1 })).position
    return { position, head: position, tables: [], parked: [] }
  }

  async rebuild() {
    return { events: this.#log.all.length, equal: true, differences: [] }
  }

  async release(): Promise<void> {}

  #events(runId: string): RecordedEvent[] {
    return this.#log.all.filter((e) => e.header.runId === runId)
  }

  #steps(agentId: string): RecordedEvent[] {
    return this.#events(agentId).filter((e) => e.header.type === 'tool_call_end' || e.header.type === 'turn_end')
  }

  #row(runId: string): RunRow {
    const events = this.#events(runId)
    const of = (type: string) => events.findLast((e) => e.header.type === type)
    const [completion, error, input, approval] = ['completion', 'error', 'user_input', 'approval_requested'].map(of)
    const answers = events.filter((e) => e.header.type === 'model_call_end').length
    const bill = {
      ...NOTHING,
      inputTokens: answers * 10,
      outputTokens: answers * 5,
      modelCalls: answers,
      nanoDollars: answers * 1500,
    }
    const waits = approval && !of('approval_decided')
    return {
      runId,
      status: completion ? 'completed' : error ? 'failed' : 'active',
      role: null,
      phase: null,
      model: 'fake',
      task: input ? String(bodyOf(input).text) : null,
      turn: Math.max(0, ...events.map((e) => e.header.turn)),
      step: this.#steps(runId).length,
      revision: events.length - 1,
      createdAt: events[0]!.header.timestamp,
      updatedAt: events.at(-1)!.header.timestamp,
      summary: completion ? String(bodyOf(completion).summary) : null,
      error: error ? { code: String(bodyOf(error).code), message: String(bodyOf(error).error) } : null,
      unmetGates: [],
      waiting: waits ? { for: 'approval', toolCallIds: [approval.header.toolCallId!] } : null,
      own: bill,
      total: bill,
      source: null,
      incomplete: false,
    }
  }

  #approvals(): ApprovalRow[] {
    return this.#log.all
      .filter((e) => e.header.type === 'approval_requested')
      .map((e) => {
        const { toolName, argumentsHash, expiresAt, reason } = bodyOf(e) as Record<string, string>
        const events = this.#events(e.header.runId)
        const decided = events.find((d) => d.header.type === 'approval_decided')
        return {
          toolCallId: e.header.toolCallId!,
          runId: e.header.runId,
          agentId: e.header.agentId,
          toolName: toolName!,
          argumentsHash: argumentsHash!,
          arguments: { path: 'hello.txt', content: 'hello\n' },
          reason: reason!,
          requestedAt: e.header.timestamp,
          expiresAt: expiresAt!,
          state: decided ? String(bodyOf(decided).decision) : 'pending',
          by: decided?.header.actor.id ?? null,
        }
      })
  }

  #shown<T>(value: T): Shown<T> {
    const last = this.#log.all.at(-1)
    return { position: last ? formatCursor(this.#log.cursor(last)) : null, value }
  }
}

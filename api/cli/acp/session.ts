import { type AgentContext, RequestError, type StopReason } from '@agentclientprotocol/sdk'
import { asOne, Refused, take } from '../../http/answers.ts'
import type { Ended } from '../../operations/runs/drive-end.ts'
import { hasEnded } from '../../operations/runs/drive-end.ts'
import type { StartRunInput } from '../../operations/runs/start-schemas.ts'
import type { Context } from '../context.ts'
import { FROM_BIRTH, type From, resuming, toEnd } from '../follow/drive.ts'
import { conversation, detailOf, sessionRunKey, sessionRuns } from './chain.ts'
import { askPermission } from './permissions.ts'
import { RunUpdates } from './updates.ts'

/** The options for starting the runs of a session. */
export interface SessionOptions {
  readonly cwd: string
  readonly role?: string
  readonly model?: string
}

export type Mode = 'interactive' | 'batch'

/** An editor session: a chain of runs (see chain.ts). A session works on one prompt at a time. */
export class EditorSession {
  readonly id: string
  /** Applies to runs that start later. A run keeps its policy. */
  mode: Mode
  readonly #ctx: Context
  readonly #options: SessionOptions
  /** The Idempotency-Key of the first run. Null: that run exists already. */
  readonly #first: string | null
  #cancel: AbortController | null = null

  constructor(ctx: Context, of: { id: string; first: string | null; mode: Mode; options: SessionOptions }) {
    this.#ctx = ctx
    this.id = of.id
    this.#first = of.first
    this.mode = of.mode
    this.#options = of.options
  }

  /** Cancels the current run like `keepup cancel`. Does nothing without a current run. */
  cancel(): void {
    this.#cancel?.abort()
  }

  /**
   * Passes the prompt as input to a waiting run, otherwise as the task of the session's next run. Returns the stop
   * reason of the turn.
   */
  async prompt(text: string, client: AgentContext): Promise<StopReason> {
    if (this.#cancel !== null)
      throw RequestError.invalidRequest(undefined, 'the session is at work; wait for its answer, or cancel it')
    const cancel = new AbortController()
    this.#cancel = cancel
    try {
      const { runId, from } = await this.#begin(text)
      return await this.#drive(runId, from, client, cancel.signal)
    } finally {
      this.#cancel = null
    }
  }

  async #begin(text: string): Promise<{ runId: string; from: From }> {
    const ctx = this.#ctx
    const { v1 } = await ctx.client('write')
    const before = await sessionRuns(ctx, this.id)
    const last = before.at(-1)
    if (last !== undefined && !hasEnded(last.status)) {
      const detail = await detailOf(ctx, last.runId)
      await take(v1.runs[':id'].input.$post({ param: { id: last.runId }, header: asOne(), json: { text, by: ctx.by } }))
      return { runId: last.runId, from: { cursor: detail!.position } }
    }
    const { cwd, ...asked } = this.#options
    const json: StartRunInput = {
      ...asked,
      task: text,
      workspace: cwd,
      policy: { mode: this.mode },
      drive: false,
      by: ctx.by,
      ...(last !== undefined && { contextVariables: { conversation: conversation(before) } }),
    }
    const key = before.length === 0 && this.#first !== null ? this.#first : sessionRunKey(this.id, before.length)
    const { runId } = await take(v1.runs.$post({ header: { 'idempotency-key': key }, json }))
    return { runId, from: FROM_BIRTH }
  }

  /** Drives the run until it ends or waits for input. Asks the editor about calls that await an approval. */
  async #drive(runId: string, from: From, client: AgentContext, cancelled: AbortSignal): Promise<StopReason> {
    const ctx = this.#ctx
    const updates = new RunUpdates(runId, { folder: this.#options.cwd, history: false })
    const watch = {
      runId,
      ...from,
      onEvent: (event: Parameters<RunUpdates['map']>[0]) => {
        // Ignore a lost connection: the end of the connection ends this process.
        for (const update of updates.map(event)) this.tell(client, update)
      },
      onText: () => {},
    }
    let cancelling: Promise<void> | null = null
    const cancel = () => {
      cancelling = this.#cancelRun(runId)
    }
    if (cancelled.aborted) cancel()
    else cancelled.addEventListener('abort', cancel, { once: true })
    try {
      for (;;) {
        await cancelling
        const end =
          (await this.#ended(runId)) ?? (await toEnd(ctx, watch, resuming(ctx, runId)).catch(this.#ifEnded(runId)))
        const asks = end.end === 'waiting' && end.for === 'approval'
        if (!asks) return this.#stop(runId, end, client)
        for (const id of end.toolCallIds)
          if (!cancelled.aborted && !(await askPermission(ctx, client, this.id, id))) this.cancel()
      }
    } finally {
      cancelled.removeEventListener('abort', cancel)
    }
  }

  async #cancelRun(id: string): Promise<void> {
    try {
      const json = { by: this.#ctx.by, reason: 'cancelled in the editor' }
      const { v1 } = await this.#ctx.client('write')
      await take(v1.runs[':id'].cancel.$post({ param: { id }, header: asOne(), json }))
    } catch (error) {
      if (error instanceof Refused && error.status === 409) return
      this.#ctx.note(`cannot cancel: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** The end of a run. Null: it has not ended. */
  async #ended(runId: string): Promise<Ended | null> {
    const detail = await detailOf(this.#ctx, runId)
    if (detail === null || !hasEnded(detail.run.status)) return null
    const { error } = detail.run
    return error === null ? { end: 'done' } : { end: 'error', code: error.code, error: error.message }
  }

  /** Handles the refusal (409) of a run that has ended in the meantime. */
  #ifEnded(runId: string) {
    return async (error: unknown): Promise<Ended> => {
      const ended = error instanceof Refused && error.status === 409 ? await this.#ended(runId) : null
      if (ended === null) throw error
      return ended
    }
  }

  #stop(runId: string, end: Ended, client: AgentContext): StopReason {
    if (end.end === 'done') return 'end_turn'
    if (end.end === 'waiting') {
      if (end.for !== 'input') this.tell(client, message(this.#waits(runId, end.for)))
      return 'end_turn'
    }
    if (end.end === 'error' && STOPS[end.code] !== undefined) return STOPS[end.code]!
    const [code, why] =
      end.end === 'error'
        ? [end.code, end.error]
        : end.end === 'fault'
          ? [end.code, end.message]
          : ['INTERRUPTED', `the run was interrupted; go on with: ${this.#ctx.command('resume', runId)}`]
    throw RequestError.internalError({ code, runId }, `${code}: ${why}`)
  }

  #waits(runId: string, why: 'approval' | 'doubt' | 'pause'): string {
    const { show, resume } = {
      show: this.#ctx.command('runs', 'show', runId),
      resume: this.#ctx.command('resume', runId),
    }
    if (why === 'pause') return `The run is paused; go on with: ${resume}`
    return `It is unknown whether a call happened; the commands that say what became of it: ${show}`
  }

  tell(client: AgentContext, update: ReturnType<RunUpdates['map']>[number]): void {
    client.notify('session/update', { sessionId: this.id, update }).catch(() => undefined)
  }
}

const message = (text: string) =>
  ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `${text}\n\n` } }) as const

/** Error codes with a stop reason in the protocol. All other codes are errors. */
const STOPS: Readonly<Record<string, StopReason>> = {
  CANCELLED: 'cancelled',
  MODEL_REFUSED: 'refusal',
  RECOVERY_FAILED: 'max_turn_requests',
}

import type { AgentEvent, AgentEventBody } from '../../domain/external/agent-event.ts'
import { boundFinalText } from '../../domain/external/bounds.ts'
import { AgentError, CANCELLED } from '../../domain/external/errors.ts'
import { type AgentRunRequest, checkRequest } from '../../domain/external/request.ts'
import type { Actor } from '../../domain/log/envelope.ts'
import { agentStream } from '../../domain/log/ids.ts'
import type { AgentCompletion, AgentRunHandle } from '../../domain/ports/external.ts'
import { EventReader, type EventSource } from '../../domain/runtime/external/event-reader.ts'
import { OWN_CAPABILITIES } from '../app/agents/own-capabilities.ts'
import { EventViews } from '../app/events/view.ts'
import { asProblem } from '../app/problem.ts'
import { record } from '../app/runs/record-command.ts'
import { actorOf } from '../app/runs/request-options.ts'
import { startRun } from '../app/runs/start-run.ts'
import { OWN_AGENT, StartRun } from '../app/schemas/start.ts'
import type { Services } from '../app/services.ts'
import { followRun } from './follow-run.ts'
import { ownEvents } from './own-events.ts'

/** Events after which a run that waited can go on. */
const GOES_ON: ReadonlySet<string> = new Set(['approval_decided', 'tool_call_resolved', 'user_input', 'resumed'])
/** So many stored events are read at a time. */
const READ = 32

/**
 * Runs keepup's own agent through the Universal Agent API (CONTRACTS 13). It has no external stream: its events are those of
 * its run. DONE is exit code 0, ERROR is 1. Rejects with an AgentError as `AgentGateway.run` does.
 */
export async function runOwnAgent(s: Services, asked: AgentRunRequest, by: string): Promise<AgentRunHandle> {
  const request = checkRequest(asked, {
    kind: OWN_AGENT,
    capabilities: OWN_CAPABILITIES,
    contradiction: ({ env }) => (env === undefined ? null : "env: keepup's own agent takes no variables; leave it out"),
  })
  const { prompt: task, workingDir: workspace, extensions } = request
  const start = StartRun.parse({ task, workspace, model: extensions?.['agent_api.config.model.v1'], drive: true, by })
  try {
    const { runId } = await startRun(s, start, {})
    return new OwnRun(s, runId, request.timeoutMs)
  } catch (error) {
    const problem = asProblem(error)
    throw problem === null ? error : new AgentError('Backend', problem.message, { cause: error })
  }
}

/** A run of keepup's own agent as a handle. Consumers read its events from the log. */
class OwnRun implements AgentRunHandle, EventSource {
  readonly agentId: string
  readonly agentKind = OWN_AGENT
  readonly events: AsyncIterable<AgentEvent> = { [Symbol.asyncIterator]: () => new EventReader(this) }
  readonly completion: Promise<AgentCompletion>
  ended: EventSource['ended'] = null
  readonly #services: Services
  readonly #over = new AbortController()
  readonly #readers = new Set<EventReader>()
  readonly #settle = Promise.withResolvers<AgentCompletion>()
  /** The revisions of the stored events that say something, with the index of the first agent event of each. */
  readonly #index: { readonly first: number; readonly revision: number }[] = []
  #count = 0
  #result: AgentCompletion | AgentError | null = null
  #why: string | null = null
  #summary = ''
  #change = Promise.withResolvers<void>()

  constructor(s: Services, runId: string, timeoutMs: number | undefined) {
    this.#services = s
    this.agentId = runId
    this.completion = this.#settle.promise
    this.completion.catch(() => undefined)
    void this.#watch()
    if (timeoutMs !== undefined) void this.#limit(timeoutMs)
  }

  cancel(reason?: string, by?: Actor): void {
    this.#end(CANCELLED, reason, by)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel()
    for (const reader of [...this.#readers]) await reader.return()
    await this.completion.catch(() => undefined)
  }

  async read(from: number): Promise<readonly AgentEventBody[]> {
    const at = this.#index.findLast(({ first }) => first <= from)
    if (at === undefined || from >= this.#count) return []
    const { log, blobs } = this.#services
    const views = new EventViews(log, blobs)
    const found: AgentEventBody[] = []
    let index = at.first
    for await (const page of log.read(agentStream(this.agentId), { from: at.revision, limit: READ }))
      for (const event of page)
        for (const body of ownEvents(await views.view(event)))
          if (index++ >= from && index <= this.#count) found.push(body)
    return found
  }

  changed(): Promise<void> {
    return this.#change.promise
  }

  wake(): void {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers<void>()
    resolve()
  }

  hold(reader: EventReader): void {
    this.#readers.add(reader)
  }

  release(reader: EventReader): void {
    this.#readers.delete(reader)
    this.#trySettle()
  }

  #end(why: string, reason: string | undefined, by: Actor = actorOf('user', undefined)): void {
    if (this.#why !== null || this.ended !== null) return
    this.#why = why
    const command = { kind: 'cancel', deadlineMs: 10_000, ...(reason !== undefined && { reason }) } as const
    const asked = { agentId: this.agentId, command, actor: by, options: {}, drive: 'yes' } as const
    // A run that ended meanwhile has no need of it; any other failure is told by the run's own end.
    record(this.#services, asked).catch(() => undefined)
  }

  async #limit(timeoutMs: number): Promise<void> {
    await this.#services.clock.sleep(timeoutMs, this.#over.signal).catch(() => undefined)
    if (!this.#over.signal.aborted) this.#end(`timed out after ${timeoutMs} ms`, 'timed out')
  }

  async #watch(): Promise<void> {
    let failure: Error | null = null
    let result: AgentCompletion | AgentError
    try {
      for await (const view of followRun(this.#services, this.agentId, undefined, new AbortController().signal)) {
        if (view.stream !== agentStream(this.agentId)) continue
        const told = ownEvents(view).length
        if (told > 0) this.#index.push({ first: this.#count, revision: view.revision })
        this.#count += told
        if (view.type === 'completion') this.#summary = String(view.payload?.summary ?? '')
        if (GOES_ON.has(view.type)) this.#services.drivers.start(this.agentId)
        if (told > 0) this.wake()
      }
      result = await this.#outcome()
    } catch (cause) {
      failure = result = new AgentError('Backend', `the run could not be read: ${(cause as Error).message}`, { cause })
    }
    this.#over.abort()
    this.ended = { failure }
    this.#result = result
    this.wake()
    this.#trySettle()
  }

  async #outcome(): Promise<AgentCompletion | AgentError> {
    const { state } = await this.#services.runtime.at(this.agentId, null)
    const { machine } = state
    if (machine.status === 'DONE')
      return { status: { code: 0, signal: null }, success: true, finalText: boundFinalText(this.#summary) }
    if (machine.status === 'ERROR' && machine.code === 'CANCELLED')
      return new AgentError('Backend', this.#why ?? CANCELLED)
    return { status: { code: 1, signal: null }, success: false, finalText: null }
  }

  #trySettle(): void {
    if (this.#result === null || this.#readers.size > 0) return
    if (this.#result instanceof AgentError) this.#settle.reject(this.#result)
    else this.#settle.resolve(this.#result)
  }
}

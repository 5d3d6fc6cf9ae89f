import type { AgentEventBody } from '../../domain/external/agent-event.ts'
import { boundFinalText } from '../../domain/external/bounds.ts'
import { RUNTIME } from '../../domain/external/decision-builder.ts'
import { AgentError, CANCELLED } from '../../domain/external/errors.ts'
import { type AgentRunRequest, checkRequest } from '../../domain/external/request.ts'
import { RunHandle } from '../../domain/external/runtime/run-handle.ts'
import type { Actor } from '../../domain/log/envelope.ts'
import { agentStream } from '../../domain/log/ids.ts'
import type { AgentCompletion, AgentRunHandle } from '../../domain/ports/external.ts'
import { EventViews } from '../operations/events/view.ts'
import { OWN_CAPABILITIES } from '../operations/external/own-capabilities.ts'
import { asProblem } from '../operations/problem.ts'
import { OWN_AGENT } from '../operations/runs/own-agent.ts'
import { recordCommand } from '../operations/runs/record-command.ts'
import { actorOf } from '../operations/runs/request-options.ts'
import { startRun } from '../operations/runs/start-run.ts'
import { StartRun } from '../operations/runs/start-schemas.ts'
import type { Services } from '../operations/services.ts'
import { followRun } from './follow-run.ts'
import { ownEvents } from './own-events.ts'
import type { Caller } from './sender.ts'

/** Events after which a waiting run can continue. */
const GOES_ON: ReadonlySet<string> = new Set(['approval_decided', 'tool_call_resolved', 'user_input', 'resumed'])
const READ = 32

/**
 * Runs keepup's own agent through the Universal Agent API. There is no external stream: the events come from the run.
 * DONE is exit code 0, ERROR is 1. Rejects with an AgentError like `AgentGateway.run`.
 */
export async function runOwnAgent(
  s: Services,
  asked: AgentRunRequest,
  { by, options }: Pick<Caller, 'by' | 'options'>,
): Promise<AgentRunHandle> {
  const request = checkRequest(asked, {
    kind: OWN_AGENT,
    capabilities: OWN_CAPABILITIES,
    contradiction: ({ env }) => (env === undefined ? null : "env: keepup's own agent takes no variables; leave it out"),
  })
  const { prompt: task, workingDir: workspace, extensions } = request
  const start = StartRun.parse({ task, workspace, model: extensions?.['agent_api.config.model.v1'], drive: true, by })
  try {
    const { runId } = await startRun(s, start, options)
    return new OwnRun(s, runId, { by: actorOf('user', by, options), timeoutMs: request.timeoutMs })
  } catch (error) {
    const problem = asProblem(error)
    throw problem === null ? error : new AgentError('Backend', problem.message, { cause: error })
  }
}

/** A handle for a run of keepup's own agent. Consumers read its events from the log. */
class OwnRun extends RunHandle {
  readonly agentId: string
  readonly runId: string
  /** The run id, for following and forking the run. */
  readonly sessionId: string
  readonly agentKind = OWN_AGENT
  readonly #services: Services
  readonly #over = new AbortController()
  /** The revisions of stored events that give agent events, with the index of the first agent event of each. */
  readonly #index: { readonly first: number; readonly revision: number }[] = []
  #count = 0
  #why: string | null = null
  #summary = ''

  readonly #by: Actor

  constructor(s: Services, runId: string, { by, timeoutMs }: { by: Actor; timeoutMs: number | undefined }) {
    super()
    this.#services = s
    this.#by = by
    this.agentId = this.runId = this.sessionId = runId
    void this.#watch()
    if (timeoutMs !== undefined) void this.#limit(timeoutMs)
  }

  cancel(reason?: string, by?: Actor): void {
    this.#cancel(CANCELLED, reason, by)
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

  #cancel(why: string, reason: string | undefined, by: Actor = this.#by): void {
    if (this.#why !== null || this.ended !== null) return
    this.#why = why
    const command = { kind: 'cancel', deadlineMs: 10_000, ...(reason !== undefined && { reason }) } as const
    const asked = { agentId: this.agentId, command, actor: by, options: {}, drive: 'yes' } as const
    // A run that has ended needs no cancel. The run's end reports any other failure.
    recordCommand(this.#services, asked).catch(() => undefined)
  }

  async #limit(timeoutMs: number): Promise<void> {
    await this.#services.clock.sleep(timeoutMs, this.#over.signal).catch(() => undefined)
    if (this.#over.signal.aborted) return
    const why = `timed out after ${timeoutMs} ms`
    this.#cancel(why, why, RUNTIME)
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
        if (view.type === 'completion') this.#summary = view.payload?.summary ?? ''
        if (GOES_ON.has(view.type)) this.#services.drivers.start(this.agentId)
        if (told > 0) this.wake()
      }
      result = await this.#outcome()
    } catch (cause) {
      failure = result = new AgentError('Backend', `the run could not be read: ${(cause as Error).message}`, { cause })
    }
    this.#over.abort()
    this.end(result, failure)
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
}

import { client, methods, type StopReason } from '@agentclientprotocol/sdk'
import type { AgentRunRequest } from '../../../domain/external/request.ts'
import type { AgentCompletion, BackendRun, Mapped } from '../../../domain/ports/external.ts'
import { type HarnessOptions, runAgent } from '../process/harness.ts'
import type { AgentProcess } from '../process/process.ts'
import type { AcpAgent } from './agent.ts'
import { decidePermission } from './permission.ts'
import { openSession, throwAgentError } from './session.ts'
import { acpStream } from './stream.ts'
import { UpdateMapping } from './updates.ts'

/** The time that an agent has to exit by itself after its answer. In ms. */
const LEAVE_MS = 5_000

/** Starts the agent, sends it the prompt of the request, and waits until the agent has ended. */
export async function runTurn(
  agent: AcpAgent,
  options: HarnessOptions,
  request: AgentRunRequest,
  run: BackendRun,
): Promise<AgentCompletion> {
  const turn = new Turn(agent, options, request, run)
  const { program, args, passes = [], keeps } = agent
  const exit = await runAgent(options, { program, args, passes, keeps, stdin: true }, request, run, (process_) =>
    turn.hold(process_),
  )
  // keepup ended an agent that did not exit after its answer. The exit status says nothing about the agent's work.
  const status = turn.dismissed ? { code: 0, signal: null } : exit
  const done = turn.stopReason === 'end_turn'
  if (!done && status.code === 0) {
    const why = turn.stopReason === null ? 'without an answer' : `with "${turn.stopReason}"`
    await run.emit({ events: [{ kind: 'Error', message: `the agent ended its turn ${why}` }] })
  }
  return { status, success: done && status.code === 0, finalText: done ? turn.updates.finalText : null }
}

/** A prompt and its answer. */
class Turn {
  readonly updates = new UpdateMapping()
  stopReason: StopReason | null = null
  dismissed = false
  readonly #agent: AcpAgent
  readonly #options: HarnessOptions
  readonly #request: AgentRunRequest
  readonly #run: BackendRun
  #ready: Promise<void> = Promise.resolve()
  /**
   * The id of the open session, null before. Updates before it (the history of a loaded session) and updates of other
   * sessions are not events of this run.
   */
  #session: string | null = null

  constructor(agent: AcpAgent, options: HarnessOptions, request: AgentRunRequest, run: BackendRun) {
    this.#agent = agent
    this.#options = options
    this.#request = request
    this.#run = run
  }

  async hold(process_: AgentProcess): Promise<void> {
    const { stream, over, drain } = acpStream(
      process_,
      (mapped) => this.#emit(mapped),
      () => this.#ready,
    )
    const connection = this.#client().connect(stream)
    try {
      const { agent } = connection
      const sessionId = await openSession(agent, this.#request, this.#options.workspace, this.#agent.mcpServers ?? [])
      this.#session = sessionId
      this.#emit({ sessionId, events: [{ kind: 'Status', message: 'session started' }] })
      const answer = await agent
        .request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: this.#request.prompt }] })
        .catch(throwAgentError('session/prompt'))
      this.stopReason = answer.stopReason
      const usage = this.updates.usage(answer._meta)
      this.#emit({ events: [{ kind: 'Status', message: 'done' }], ...(usage !== null && { usage }) })
    } catch (fault) {
      // The exit status of an agent that has exited is the error to report.
      if (!over()) throw fault
    } finally {
      connection.close()
    }
    await this.#leave(process_, drain)
    await this.#ready
  }

  #client() {
    return client({ name: 'keepup' })
      .onNotification('session/update', ({ params }) => {
        if (params.sessionId === this.#session) this.#emit({ events: this.updates.map(params.update) })
      })
      .onRequest('session/request_permission', async ({ params }) => {
        this.#emit({ events: this.updates.tool(params.toolCall) })
        const ask = this.#agent.ask ?? this.#run.ask
        const { response, allowed } = await decidePermission(params, this.#request, ask)
        const message =
          allowed === null ? 'permission not decided' : allowed ? 'permission granted' : 'permission rejected'
        this.#emit({ events: [{ kind: 'Status', message, data: { id: params.toolCall.toolCallId } }] })
        return response
      })
  }

  #emit(mapped: Mapped): void {
    if (mapped.events?.length === 0) return
    const ready = this.#run.emit(mapped)
    if (ready === undefined) return
    this.#ready = ready
    // Callers that await `#ready` see the error.
    ready.catch(() => undefined)
  }

  /** Closes the agent's input, which asks the agent to exit. Ends the process if it does not exit in time. */
  async #leave(process_: AgentProcess, drain: () => Promise<void>): Promise<void> {
    process_.stdin?.end()
    const answered = this.stopReason !== null
    const patience = setTimeout(
      () => {
        this.dismissed = answered
        process_.end()
      },
      // An agent that died without an answer exits by itself. Its exit status is the only report.
      answered ? (this.#options.graceMs ?? LEAVE_MS) : LEAVE_MS,
    )
    try {
      await drain()
      await process_.exited
    } finally {
      clearTimeout(patience)
    }
  }
}

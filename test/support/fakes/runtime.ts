import { randomBytes } from 'node:crypto'
import type { UserCommand } from '../../../domain/agent/commands.ts'
import { CommandRejected } from '../../../domain/agent/errors.ts'
import type { AgentState } from '../../../domain/agent/state.ts'
import { canonicalBytes } from '../../../domain/log/canonical.ts'
import type { Actor, RecordedEvent, SealedEvent } from '../../../domain/log/envelope.ts'
import { agentStream, runIdOf, sha256, toolCallId } from '../../../domain/log/ids.ts'
import type { Json, JsonObject } from '../../../domain/log/json.ts'
import { chainHash, GENESIS, saltBody, seal } from '../../../domain/log/seal.ts'
import type { LiveFeed } from '../../../domain/ports.ts'
import type { AgentAt, AgentRuntimeDoors, At, DriveEnd, Request, Verification } from '../../../domain/runtime/types.ts'
import type { FakeLog } from './log.ts'

const DRIVER: Actor = { kind: 'driver', id: 'fake' }
const MODEL: Actor = { kind: 'model', id: 'fake' }

interface Fact {
  readonly type: string
  readonly body: Json
  readonly turn?: number
  readonly toolCallId?: string
  readonly actor?: Actor
}

export const bodyOf = (event: RecordedEvent): JsonObject =>
  JSON.parse(Buffer.from(event.body!).toString('utf8')) as JsonObject

/**
 * Stands in for the runtime: a task's first word says what the agent does. `finish`: one tool call, then done. `fail`:
 * ERROR. `write`: asks to write a file. `hang`: streams a word and waits until paused, cancelled or interrupted.
 * `hang-once`: hangs for its first driver only. `break`: the drive fails.
 */
export class FakeRuntime implements AgentRuntimeDoors {
  readonly #log: FakeLog
  readonly #live: LiveFeed

  constructor(log: FakeLog, live: LiveFeed) {
    this.#log = log
    this.#live = live
  }

  newRunId(): string {
    return runIdOf(Date.now(), randomBytes(8))
  }

  async execute(agentId: string, command: UserCommand, request: Request): Promise<{ revision: number }> {
    const events = this.#log.stream(agentStream(agentId))
    const known = events.findLast((e) => request.key !== undefined && e.header.commandId === request.key)
    if (known) return { revision: known.header.revision }
    if (command.kind === 'start' ? events.length > 0 : events.length === 0) {
      throw command.kind === 'start'
        ? new CommandRejected('ALREADY_STARTED', 'the run has started')
        : new CommandRejected('NOT_FOUND', 'no such agent', 404)
    }
    if (over(events) && command.kind !== 'erase') throw new CommandRejected('FINISHED', 'the run has ended; fork it')
    return this.#append(agentId, this.#facts(agentId, command, events), request.by, request.key)
  }

  #facts(agentId: string, command: UserCommand, events: readonly RecordedEvent[]): Fact[] {
    switch (command.kind) {
      case 'start':
        return [
          { type: 'agent_started', body: { spec: JSON.parse(JSON.stringify(command.spec)) as Json, depth: 0 } },
          ...(command.task === null ? [] : [{ type: 'user_input', body: { text: command.task } }]),
        ]
      case 'input':
        return [{ type: 'user_input', body: { text: command.text } }]
      case 'pause':
        return [{ type: 'paused', body: {} }]
      case 'resume':
        return paused(events) ? [{ type: 'resumed', body: {} }] : []
      case 'step':
        return [{ type: 'step_requested', body: {} }]
      case 'cancel':
        return [{ type: 'cancel_requested', body: { deadlineMs: command.deadlineMs } }]
      case 'standing_approval':
        return [{ type: 'standing_approval', body: { tools: command.tools } }]
      case 'decide_approval': {
        const asked = events.find((e) => e.header.toolCallId === command.toolCallId)
        const decided = events.some(
          (e) => e.header.type === 'approval_decided' && e.header.toolCallId === command.toolCallId,
        )
        if (!asked || decided) throw new CommandRejected('NOT_PENDING', `no approval of ${agentId} waits for this`)
        const argumentsHash = String(bodyOf(asked).argumentsHash)
        if (command.argumentsHash !== undefined && command.argumentsHash !== argumentsHash) {
          throw new CommandRejected('ARGUMENTS_CHANGED', 'the call has other arguments')
        }
        const body = { decision: command.decision, argumentsHash }
        return [{ type: 'approval_decided', turn: 1, body, toolCallId: command.toolCallId }]
      }
      default:
        throw new CommandRejected('NOT_FAKED', `the stand-in knows no ${command.kind}`)
    }
  }

  async #append(agentId: string, facts: readonly Fact[], by: Actor, key?: string): Promise<{ revision: number }> {
    const stream = agentStream(agentId)
    const before = this.#log.stream(stream)
    let hash = before.at(-1)?.hash ?? GENESIS
    const batch: SealedEvent[] = facts.map((fact, i) => {
      const { bytes, header: body } = saltBody(canonicalBytes(fact.body), randomBytes(16))
      const at = Math.max(Date.now(), this.#log.floor())
      const event = seal(
        hash,
        {
          format: 1,
          stream,
          type: fact.type,
          version: 1,
          runId: agentId,
          agentId,
          turn: fact.turn ?? 0,
          revision: before.length + i,
          timestamp: new Date(at).toISOString(),
          commandId: key ?? `c${before.length + i}`,
          actor: fact.actor ?? by,
          ...(fact.toolCallId === undefined ? {} : { toolCallId: fact.toolCallId }),
          body,
        },
        bytes,
      )
      hash = event.hash
      return event
    })
    if (batch.length > 0) await this.#log.append(stream, before.length - 1, batch)
    return { revision: before.length + batch.length - 1 }
  }

  async drive(agentId: string, options: { signal: AbortSignal }): Promise<DriveEnd> {
    const stream = () => this.#log.stream(agentStream(agentId))
    const add = (...facts: Fact[]) => this.#append(agentId, facts, DRIVER)
    const epoch = stream().filter((e) => e.header.type === 'driver_claimed').length + 1
    if (!over(stream()))
      await add({ type: 'driver_claimed', body: { driverId: 'fake', epoch, minReader: 1, build: 'fake' } })
    const first = stream().find((e) => e.header.type === 'user_input')
    const task = first ? String(bodyOf(first).text) : ''
    const word = task.split(' ')[0]
    const stepwise = stream().some((e) => e.header.type === 'step_requested')
    for (;;) {
      const end = endOf(stream())
      if (end) return end
      if (options.signal.aborted) return { end: 'interrupted' }
      if (stream().some((e) => e.header.type === 'cancel_requested')) {
        await add({ type: 'error', body: { error: 'cancelled', code: 'CANCELLED', recoverable: false } })
      } else if (paused(stream())) return { end: 'waiting', for: 'pause', toolCallIds: [] }
      else if (!first) return { end: 'waiting', for: 'input', toolCallIds: [] }
      else if (word === 'fail') {
        await add({ type: 'error', body: { error: 'the model gave up', code: 'NO_COMPLETION', recoverable: false } })
      } else if (word === 'break') throw new Error('the disk is full')
      else if (word === 'hang' || (word === 'hang-once' && epoch === 1)) {
        this.#live.publish({ runId: agentId, agentId, turn: 1, kind: 'text', text: 'thinking…' })
        if (stepwise)
          await add({ type: 'turn_end', turn: 1, body: { step: 1, outcome: 'text' } }, { type: 'paused', body: {} })
        else await this.#change(options.signal)
      } else if (word === 'write') {
        const waits = await this.#write(agentId, stream(), add)
        if (waits) return { end: 'waiting', for: 'approval', toolCallIds: [waits] }
      } else {
        await add(...this.#turn(agentId, 'complete_task', { summary: task }, 1))
        await add(
          { type: 'tool_call_end', turn: 1, toolCallId: toolCallId(agentId, 1, 0), body: ended('complete_task', 1) },
          { type: 'turn_end', turn: 1, body: { step: 2, outcome: 'calls' } },
          { type: 'completion', body: { summary: task, artifacts: [], unmetGates: [], unreadInput: 0 } },
        )
      }
    }
  }

  #turn(agentId: string, tool: string, args: JsonObject, turn: number): Fact[] {
    const argumentsHash = sha256(canonicalBytes(args))
    const content = [
      { type: 'text', text: 'let me see' },
      { type: 'tool_use', id: 'toolu_1', name: tool, input: args },
    ]
    const call = { block: 1, toolName: tool, argumentsHash, reads: [], writes: [], effect: 'pure' }
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }
    const answer = {
      attempt: 1,
      content,
      stopReason: 'tool_use',
      usage,
      nanoDollars: 1500,
      durationMs: 3,
      servedBy: 'fake',
      calls: [call],
    }
    const start = {
      toolName: tool,
      index: 0,
      argumentsHash,
      attempt: 1,
      effect: 'pure',
      intent: tool === 'complete_task',
    }
    return [
      { type: 'turn_start', turn, body: { unread: 1 } },
      { type: 'model_call_end', turn, actor: MODEL, body: answer },
      { type: 'tool_call_start', turn, toolCallId: toolCallId(agentId, turn, 0), body: start },
    ]
  }

  /** The id of the call that waits, or null where it has been decided and done. */
  async #write(agentId: string, events: readonly RecordedEvent[], add: (...facts: Fact[]) => unknown) {
    const call = toolCallId(agentId, 1, 0)
    const decided = events.find((e) => e.header.type === 'approval_decided')
    if (decided) {
      const summary = `write ${String(bodyOf(decided).decision)}`
      await add(
        { type: 'tool_call_end', turn: 1, toolCallId: call, body: ended('write_file', 1) },
        { type: 'turn_end', turn: 1, body: { step: 2, outcome: 'calls' } },
        { type: 'completion', body: { summary, artifacts: [], unmetGates: [], unreadInput: 0 } },
      )
      return null
    }
    if (!events.some((e) => e.header.type === 'approval_requested')) {
      const args = { path: 'hello.txt', content: 'hello\n' }
      const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
      const asked = {
        toolName: 'write_file',
        argumentsHash: sha256(canonicalBytes(args)),
        expiresAt,
        reason: 'sensitive',
      }
      await add(...this.#turn(agentId, 'write_file', args, 1), {
        type: 'approval_requested',
        turn: 1,
        toolCallId: call,
        body: asked,
      })
    }
    return call
  }

  async #change(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<void>()
    const stop = () => aborted.resolve()
    signal.addEventListener('abort', stop, { once: true })
    await Promise.race([this.#log.changed(), aborted.promise])
    signal.removeEventListener('abort', stop)
  }

  async at(agentId: string, at: At): Promise<AgentAt> {
    const events = this.#log.stream(agentStream(agentId))
    if (events.length === 0) throw new CommandRejected('NOT_FOUND', 'no such agent', 404)
    const end = at === null ? events.length - 1 : events.findIndex((e) => reached(e, at))
    if (end < 0) throw new CommandRejected('NOT_FOUND', 'the history has no such point', 404)
    const prefix = events.slice(0, end + 1)
    const last = prefix.at(-1)!
    const inputs = prefix.filter((e) => e.header.type === 'user_input')
    const status = endOf(prefix) ? 'DONE' : 'THINKING'
    return {
      state: { machine: { status } } as unknown as AgentState,
      head: { revision: end, hash: last.hash, timestamp: Date.parse(last.header.timestamp) },
      messages: inputs.map((e) => ({ role: 'user', content: String(bodyOf(e).text) })),
    }
  }

  async fork(
    source: string,
    at: At,
    options: { workspace?: { path: string } },
    request: Request,
  ): Promise<{ runId: string }> {
    const point = await this.at(source, at)
    const runId = this.newRunId()
    const body = {
      stream: agentStream(source),
      revision: point.head.revision,
      workspace: options.workspace?.path ?? null,
    }
    await this.#append(runId, [{ type: 'forked', body }], request.by, request.key)
    return { runId }
  }

  async requests(): Promise<never> {
    throw new CommandRejected('POINT_UNKNOWN', 'not played here', 404)
  }

  async verify(agentId: string): Promise<Verification> {
    const problems: { revision: number; code: 'CHAIN'; message: string }[] = []
    let hash = GENESIS
    const events = this.#log.stream(agentStream(agentId))
    for (const e of events) {
      if (chainHash(hash, e.header) !== e.hash) {
        problems.push({ revision: e.header.revision, code: 'CHAIN', message: 'the hash does not follow' })
      }
      hash = e.hash
    }
    return { agentId, events: events.length, ok: problems.length === 0, head: hash, erased: [], problems, digests: 0 }
  }
}

const ended = (toolName: string, step: number): Json => ({
  step,
  toolName,
  success: true,
  attempt: 1,
  durationMs: 2,
  result: 'ok',
})

const reached = (e: RecordedEvent, at: NonNullable<At>): boolean => {
  if ('revision' in at) return e.header.revision === at.revision
  if ('step' in at) return at.step === 0 ? e.header.revision === 0 : bodyOf(e).step === at.step
  return e.header.type === 'turn_end' && e.header.turn === at.turn
}

function endOf(events: readonly RecordedEvent[]): DriveEnd | null {
  for (const e of events) {
    if (e.header.type === 'completion') return { end: 'done' }
    if (e.header.type === 'error') return { end: 'error', code: String(bodyOf(e).code), error: String(bodyOf(e).error) }
  }
  return null
}

const over = (events: readonly RecordedEvent[]): boolean => endOf(events) !== null

const paused = (events: readonly RecordedEvent[]): boolean =>
  events.findLast((e) => e.header.type === 'paused' || e.header.type === 'resumed')?.header.type === 'paused'

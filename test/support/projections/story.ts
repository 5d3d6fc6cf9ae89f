import { agent } from '../../../domain/agent/decide/aggregate.ts'
import { isEventType } from '../../../domain/agent/events/codec.ts'
import { agentStream, effectId, modelCallId, toolCallId } from '../../../domain/log/ids.ts'
import { unsalted } from '../../../domain/log/seal.ts'
import type { Draft, MemoryLog } from './memory-log.ts'
import { HASH, spec } from './spec.ts'

type Extra = Partial<Omit<Draft, 'stream' | 'type' | 'body' | 'runId' | 'at'>>

/** `text`: the arguments of every call, as text from the model. */
interface Answered {
  readonly refused?: boolean
  readonly writes?: readonly string[]
  readonly text?: string
  readonly secrets?: readonly { name: string; reference: string }[]
  /** Names in `tools` that belong to no tool. */
  readonly unknown?: readonly string[]
}

/** A source of choices: the tape's numbers in order. `more`: whether any are left. */
export class Tape {
  readonly #numbers: readonly number[]
  #next = 0
  constructor(numbers: readonly number[]) {
    this.#numbers = numbers
  }
  get more(): boolean {
    return this.#next < this.#numbers.length
  }
  /** 0 to `below` - 1. */
  pick(below: number): number {
    return (this.#numbers[this.#next++] ?? 0) % below
  }
}

/** Members of a call that later events refer to. */
const GIVEN = (i: number) => ({ value: `v${i}`, artifacts: [{ type: 'plan', title: 'P', content: '# plan' }] })

/** An agent that writes well-formed events: turns, calls, approvals, failures, pauses, an end, and later erasures. */
export class Actor {
  readonly id: string
  readonly runId: string
  readonly #log: MemoryLog
  readonly #now: () => number
  #answered = 0
  turn = 0
  step = 0
  attempt = 0
  finished = false
  started = false
  /** The agent's delegated children. */
  readonly children: string[] = []
  asked = false
  calls: { id: string; index: number; tool: string; status: 'planned' | 'asked' | 'running' | 'unknown' | 'ended' }[] =
    []
  inTurn: 'no' | 'model' | 'tools' = 'no'

  constructor(log: MemoryLog, now: () => number, id: string, runId: string) {
    this.#log = log
    this.#now = now
    this.id = id
    this.runId = runId
  }

  /** Another agent of the same run, on the same clock. */
  beside(id: string): Actor {
    return new Actor(this.#log, this.#now, id, this.runId)
  }

  write(type: string, body: unknown, extra: Extra = {}) {
    const [stream, at] = [agentStream(this.id), this.#now()]
    // A third of the events has a wake time, a third has none, and a third is not the last of its append.
    const wakeAt = this.finished ? { wakeAt: null } : [{ wakeAt: at + 5 }, { wakeAt: null }, {}][at % 3]
    return this.#log.add({ stream, type, body, runId: this.runId, at, turn: this.turn, ...wakeAt, ...extra })
  }

  user(type: string, body: unknown, extra: Extra = {}) {
    return this.write(type, body, {
      actor: { kind: 'user', id: 'ann', claimed: true },
      turn: this.inTurn === 'no' ? 0 : this.turn,
      ...extra,
    })
  }

  start(parent?: { agentId: string; toolCallId: string }, drive = true) {
    this.user('agent_started', {
      spec: spec(),
      depth: parent ? 1 : 0,
      ...(parent ? { parent } : drive ? { drive } : {}),
    })
    this.started = true
  }

  forkFrom(source: Actor, revision: number, hash: string) {
    this.user('forked', {
      stream: agentStream(source.id),
      revision,
      hash,
      digest: { fold: 1, value: HASH },
      step: source.step,
      workspace: null,
      changes: { model: 'model-b' },
      drive: true,
    })
    this.turn = source.turn
    this.step = source.step
    this.started = true
    const open = source.inTurn === 'tools' ? source.calls.filter((call) => call.status !== 'ended') : []
    for (const call of open) this.endCall(call.id, call.tool, { code: 'CANCELLED', message: 'the fork cancels it' })
    if (source.inTurn !== 'no') this.write('turn_end', { step: ++this.step, outcome: 'cancelled' })
  }

  endCall(id: string, toolName: string, error?: { code: string; message: string }, blob = false) {
    const outcome = error
      ? { success: false, error }
      : { success: true, result: { text: `of ${id}` }, created: ['a.ts'] }
    this.write(
      'tool_call_end',
      { step: ++this.step, toolName, attempt: 1, durationMs: 5, ...outcome },
      { toolCallId: id, blob },
    )
  }

  version(taken: boolean) {
    const version = taken
      ? { tree: `tree ${this.step}` }
      : { unversioned: { code: 'SNAPSHOT_FAILED', message: 'full' } }
    this.write('workspace_versioned', { step: this.step, ...version })
  }

  beginTurn() {
    this.turn++
    this.attempt = 1
    this.asked = false
    this.write('turn_start', { unread: 1 })
    this.callModel()
    this.inTurn = 'model'
  }

  callModel() {
    const routed = { requested: 'model-a', resolved: 'model-a', reason: 'default', policy: 'cost', purpose: 'turn' }
    this.write('model_routed', routed)
    if (this.turn === 1) {
      this.write('prompt_set', { system: 'You build.' })
      this.write('tools_changed', { offered: ['read_file', 'complete_task'], choice: 'any', parallel: false })
    }
    this.write('model_call_start', {
      attempt: this.attempt,
      model: this.turn % 3 === 0 ? 'model-b' : 'model-a',
      purpose: 'turn',
      request: { assembler: 1, revision: 0, prompt: 0, tools: 0, inputs: HASH },
      estimate: { input: 10, maxOutput: 10, nanoDollars: null },
      timeoutMs: 1000,
    })
  }

  /**
   * `refused`: the answer names these tools, but its calls were not accepted. `writes`: the paths that the calls write.
   */
  answer(tools: readonly string[], { refused = false, writes = [], text, secrets, unknown }: Answered = {}) {
    const asked = (i: number) => (text === undefined ? { input: { path: `f${i}`, ...GIVEN(i) } } : { input_text: text })
    const content = [
      { type: 'text', text: 'thinking' },
      ...tools.map((name, i) => ({ type: 'tool_use', id: `p${i}`, name, ...asked(i) })),
    ]
    const taken = refused ? [] : tools
    const calls = taken.map((toolName, i) => ({
      block: i + 1,
      ...(unknown?.includes(toolName) ? { toolName: 'unknown', askedName: toolName } : { toolName }),
      argumentsHash: HASH,
      reads: [],
      writes,
      effect: 'pure',
      ...(secrets && { secrets }),
    }))
    const usage = { input: 100 + this.turn, output: 20, cacheRead: 7, cacheWrite: 3 }
    this.#answered = this.write(
      'model_call_end',
      {
        attempt: this.attempt,
        purpose: 'turn',
        content,
        stopReason: refused ? 'refusal' : 'tool_use',
        usage,
        nanoDollars: this.turn % 4 === 0 ? null : 1000 + this.turn,
        durationMs: 9,
        servedBy: 'model-a',
        calls,
      },
      { commandId: effectId(modelCallId(this.id, this.turn), this.attempt) },
    ).header.revision
    this.calls = taken.map((tool, index) => ({
      id: toolCallId(this.id, this.turn, index),
      index,
      tool,
      status: 'planned',
    }))
    this.inTurn = 'tools'
  }

  /** The location of the arguments of the turn's nth call. */
  given(index: number) {
    return { revision: this.#answered, block: index + 1 }
  }

  endTurn(outcome = 'calls') {
    this.write('turn_end', { step: ++this.step, outcome })
    this.inTurn = 'no'
  }

  finish(how: 'completion' | 'recovered' | 'error') {
    if (how !== 'completion') {
      const warning = {
        phase: 'final_warning',
        reason: 'turns',
        maxTurns: 9,
        graceTurns: 2,
        deadlineMs: 60000,
        warning: 'Now',
      }
      this.write('recovery', warning)
      this.write('recovery', how === 'recovered' ? { phase: 'succeeded' } : { phase: 'failed', reason: 'no call' })
    }
    this.finished = true
    if (how === 'error') {
      this.write('error', {
        error: 'Recovery failed',
        code: 'RECOVERY_FAILED',
        recoverable: false,
        partialOutput: 'half',
      })
    } else this.write('completion', { summary: 'done', artifacts: [], unmetGates: ['tests_exist'], unreadInput: 0 })
  }

  /** The log lost this agent's end including a call, and a person accepted and settled the loss. */
  loseEnd(decision: 'happened' | 'run' | 'abandon') {
    const id = toolCallId(this.id, this.turn + 1, 0)
    const call = { toolCallId: id, toolName: 'run_command', argumentsHash: HASH, effect: 'irreversible' }
    this.user('loss_accepted', { revision: 99, hash: HASH, calls: [call], unlisted: true })
    const result = decision === 'happened' && this.turn % 2 === 0 ? { result: { paid: this.turn } } : {}
    const said = { decision, toolName: 'run_command', ...result, reason: 'looked' }
    this.user('lost_call_decided', said, { toolCallId: id })
    this.user('loss_released', {})
  }

  #residue(revision: number) {
    const { header, body } = this.#log.originals.filter(({ header: h }) => h.stream === agentStream(this.id))[revision]!
    const { type, version } = header
    const stored = body ?? this.#log.blobs.held.get(`${header.runId}/${header.body.hash}`)
    if (!isEventType(type) || !stored) return []
    const whole = JSON.parse(Buffer.from(unsalted(stored)).toString('utf8'))
    return [{ revision, version, body: agent.erasing.residue(type, whole, header.body.hash) }]
  }

  /** Erases everything that the runtime erases of a run at once. */
  eraseAll() {
    const own = this.#log.events.filter(
      ({ header }) => header.stream === agentStream(this.id) && agent.erasing.says(header.type),
    )
    this.erase(own.map(({ header }) => header.revision))
  }

  /** `lost`: bodies that the erasure could not read. */
  erase(revisions: readonly number[], lost: readonly number[] = []) {
    const bodies = revisions.map((revision) => ({ revision, bodyHash: HASH }))
    const kept = revisions.flatMap((revision) => (lost.includes(revision) ? [] : this.#residue(revision)))
    if (kept.length > 0) this.user('residue', { bodies: kept })
    this.user('erased', { bodies, code: 'other', reason: 'asked to' }, { erases: revisions })
  }
}

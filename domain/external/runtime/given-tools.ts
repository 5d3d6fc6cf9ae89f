import type { Call } from '../../calls/call.ts'
import type { Caller } from '../../calls/caller.ts'
import { ToolError } from '../../calls/errors.ts'
import type { CallBodyOf } from '../../calls/events/events.ts'
import { memoryToolNamed, reachOf, recall } from '../../calls/memory/memory-tools.ts'
import { type OwedTool, owedTool } from '../../calls/owed.ts'
import { requestedCalls } from '../../calls/requested-calls.ts'
import { outcomeText } from '../../calls/result-text.ts'
import { askMemory } from '../../calls/runtime/ask-memory.ts'
import { EffectsAtWork } from '../../calls/runtime/effects-at-work.ts'
import { pathsOf } from '../../calls/runtime/paths.ts'
import { performTool } from '../../calls/runtime/perform-tool.ts'
import { wireName } from '../../calls/tools/tool-spec.ts'
import { toolNamed } from '../../calls/tools/tools.ts'
import type { SealedEvent } from '../../log/envelope.ts'
import { externalStream } from '../../log/ids.ts'
import type { Json, JsonObject } from '../../log/json.ts'
import { unsalted } from '../../log/seal.ts'
import type { ExternalRunLog, OfferedTools, ToolAnswer } from '../../ports/external.ts'
import type { ToolDesk } from '../../ports/runtime.ts'
import { Alarm } from '../../stream/runtime/alarm.ts'
import { type Mutex, Semaphore } from '../../stream/runtime/concurrency.ts'
import { external } from '../aggregate.ts'
import type { ExternalContext, ExternalFact } from '../commands.ts'
import { nextAskId } from '../state.ts'
import { callerOf } from '../tools.ts'
import type { Recorder } from './recorder.ts'

export interface GivenToolsOptions {
  readonly log: ExternalRunLog
  /** Records in order, after the agent's earlier reports. */
  readonly recorder: Pick<Recorder, 'record'>
  readonly desk: ToolDesk
  /** Serialises requests, because each gets its number when it is recorded. */
  readonly asking: Mutex
  /** An append failed. Nothing more can be recorded. */
  onFailure(error: unknown): void
}

interface Asked {
  readonly id: string
  /** The redacted arguments; null: not a JSON object. */
  readonly args: JsonObject | null
  readonly answer: PromiseWithResolvers<ToolAnswer>
  /** Aborts when the agent stops waiting for the call. */
  readonly left: AbortController
}

/** The maximum number of open calls of one run. Further calls wait. */
const OPEN = 64
/** How often a pause of the parent is checked, in ms. */
const LOOK_MS = 500

const utf8 = new TextDecoder()

/**
 * keepup's tools for one run of an external agent. The run locks its workspace's whole queue, so its calls do not enter
 * the queue. They are ordered among themselves like the calls of a turn.
 */
export class GivenTools implements OfferedTools {
  readonly #options: GivenToolsOptions
  readonly #calls = new Map<string, Asked>()
  readonly #places = new Semaphore(OPEN)
  readonly #alarm = new Alarm()
  readonly #atWork = new EffectsAtWork(() => this.#alarm.poke())
  readonly #stopListening: () => void
  #attending: Promise<void> | null = null
  #over = false

  constructor(options: GivenToolsOptions) {
    this.#options = options
    this.#stopListening = options.log.listen((events) => this.#hear(events))
  }

  list(): ReturnType<OfferedTools['list']> {
    const tools = this.#options.log.state.tools?.spec.tools ?? []
    return tools.map(({ name, description, parameters, effect, control }) => ({
      name: wireName(name),
      description,
      parameters: parameters as JsonObject,
      // Control tools are pure in the log, but `remember` and `forget` change memory.
      readOnly: effect === 'pure' && (!control || name === recall.name),
    }))
  }

  call(name: string, given: Json, signal: AbortSignal): Promise<ToolAnswer> {
    return this.#places.run(async () => {
      if (this.#over) return ENDED
      const asked = await this.#options.asking.run(() => this.#ask(name, given))
      if (asked === null) return ENDED
      const leave = () => this.#leave(asked)
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      return asked.answer.promise.finally(() => signal.removeEventListener('abort', leave))
    })
  }

  /** Call after an append to the run's stream. */
  notice(): void {
    this.#alarm.poke()
  }

  /** Starts no more calls and aborts the running ones. Resolves when their outcomes are in the log. */
  async stop(): Promise<void> {
    this.#over = true
    this.#alarm.poke()
    await this.#atWork.stop(() => new ToolError('CANCELLED', 'the agent that called has ended'))
    await this.#attending
    // Calls that wait for a person or for a free slot end with the run.
    for (const { answer } of this.#calls.values()) answer.resolve(ENDED)
  }

  /** Call after the end of the run is recorded. */
  close(): void {
    this.#stopListening()
    this.#calls.clear()
  }

  /** Records a call and the steps that follow immediately. Null: the run has ended. */
  async #ask(name: string, given: Json): Promise<Asked | null> {
    const { log, desk } = this.#options
    const { secrets } = desk.env
    if (this.#over) return null
    await secrets.refresh()
    const [requested] = requestedCalls([{ type: 'tool_use', id: '', name, input: given }])
    const { arguments: plain, beyond } = requested!
    const { spec, asked: index } = log.state.tools!
    const tool = toolNamed(spec.tools, name)
    const args = plain === null ? null : secrets.arguments(tool?.name ?? name, plain)
    const paths = await pathsOf(desk.env, tool, args)
    const id = nextAskId(log.state)
    const call: Asked = { id, args, answer: Promise.withResolvers(), left: new AbortController() }
    this.#calls.set(id, call)
    const more = beyond === undefined ? {} : { beyond }
    await this.#record({ kind: 'call', index, name: secrets.text(name), arguments: args, ...more, paths })
    // The run ended during the append, so the call never started.
    if (this.#over) call.answer.resolve(ENDED)
    this.#attending ??= this.#attend()
    return call
  }

  #leave({ id, left }: Asked): void {
    left.abort(new ToolError('CANCELLED', 'the agent that called did not wait for it'))
    this.#record({ kind: 'call_left', toolCallId: id }).catch(() => undefined)
  }

  /** Records a fact and the steps that follow immediately. */
  async #record(fact: ExternalFact): Promise<void> {
    const { recorder, desk, onFailure } = this.#options
    try {
      await desk.env.secrets.keep()
      await recorder.record([fact, this.#goOn()])
    } catch (error) {
      onFailure(error)
      throw error
    }
  }

  #goOn(): ExternalFact {
    return { kind: 'calls_go_on', ...((this.#over || this.#options.desk.paused()) && { paused: true }) }
  }

  /** Performs owed effects until the run ends. */
  async #attend(): Promise<void> {
    const { desk } = this.#options
    try {
      while (!this.#over) {
        this.#alarm.moved = false
        if (this.#isDue()) await this.#record(this.#goOn())
        else await this.#alarm.next(desk.ports.clock, this.#begin())
      }
    } catch {
      // A failure of the log ends the run.
    }
  }

  /** Whether a step is due now. Runs the decision without recording it. */
  #isDue(): boolean {
    const { log, desk } = this.#options
    const { state } = log
    if (log.lost || (state.tools?.open.length ?? 0) === 0) return false
    const context: ExternalContext = {
      now: desk.ports.clock.now(),
      salt: () => new Uint8Array(16),
      jitter: () => 0,
      by: { kind: 'system', id: 'runtime' },
      commandId: 'look',
      ...(state.driver !== null && { driver: state.driver }),
    }
    // The revision affects only recorded events.
    const place = { stream: externalStream(log.agentId), revision: 0 }
    return external.decide(state, place, this.#goOn(), context).drafts.length > 0
  }

  /** Starts owed effects that are not running. Returns the time of the next check, in ms. */
  #begin(): number {
    const { log, desk } = this.#options
    const { at, tools, driver } = log.state
    // Another host may have written with a clock that is ahead. Its calls do not wait until this clock is there too.
    const now = Math.max(desk.ports.clock.now(), at)
    const open = tools?.open ?? []
    let due = desk.paused() && open.length > 0 ? desk.ports.clock.now() + LOOK_MS : Number.POSITIVE_INFINITY
    for (const call of open) {
      if (call.stage.at === 'approval') due = Math.min(due, call.stage.expiresAt)
      const effect = owedTool(call, driver?.epoch)
      if (effect === null || this.#atWork.has(effect.id)) continue
      if (effect.notBefore > now) due = Math.min(due, effect.notBefore)
      else this.#atWork.start(effect.id, (signal) => this.#perform(effect, signal).catch(this.#options.onFailure))
    }
    return due
  }

  async #perform(effect: OwedTool, signal: AbortSignal): Promise<void> {
    const { log, desk } = this.#options
    const { ports, env } = desk
    await ports.crashPoint?.('before_tool')
    // Check ownership in the log immediately before each effect.
    await log.look()
    const caller = callerOf(log.state)
    const asked = this.#calls.get(effect.toolCallId)
    if (caller === null || asked === undefined || log.lost) return
    const call = log.state.tools?.open.find(({ id }) => id === effect.toolCallId)
    if (call === undefined || owedTool(call, caller.driver?.epoch)?.id !== effect.id) return
    const stream = externalStream(log.agentId)
    const fact = await performTool(
      { ports, env, caller, call, args: asked.args, stream, signal: AbortSignal.any([signal, asked.left.signal]) },
      {
        limitMs: ({ timeLimitMs }) => timeLimitMs,
        performControl: async (args) => ({ result: { content: await askedMemory(desk, caller, call, args, stream) } }),
      },
    )
    await ports.crashPoint?.('after_tool')
    this.#atWork.outcome(effect.id)
    await this.#record(fact)
  }

  #hear(events: readonly SealedEvent[]): void {
    for (const { header, body } of events) {
      const asked = header.toolCallId === undefined ? undefined : this.#calls.get(header.toolCallId)
      if (header.type !== 'tool_call_end' || asked === undefined || body === null) continue
      this.#calls.delete(header.toolCallId!)
      const end = JSON.parse(utf8.decode(unsalted(body))) as CallBodyOf<'tool_call_end'>
      const text = outcomeText(
        end,
        () => `the whole is kept in the log; to read on, ask ${end.toolName} for a part of it`,
      )
      asked.answer.resolve({ text, isError: !end.success })
    }
    this.#alarm.poke()
  }
}

const ENDED: ToolAnswer = { text: 'CANCELLED: the run of this agent has ended', isError: true }

/** Performs a memory tool. Rejects with ToolError. */
function askedMemory(
  { ports, env }: ToolDesk,
  caller: Caller,
  call: Call,
  args: JsonObject,
  stream: string,
): Promise<Json> {
  const tool = memoryToolNamed(call.toolName)
  if (tool === undefined) throw new ToolError('RESOURCE_NOT_FOUND', `there is no control tool "${call.toolName}"`)
  const request = tool.request(reachOf(caller), tool.schema.parse(args))
  return askMemory(ports, env, caller, call, stream, request)
}

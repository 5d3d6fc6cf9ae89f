import type { Call } from '../../calls/call.ts'
import { callArguments } from '../../calls/requested-calls.ts'
import { EffectsAtWork } from '../../calls/runtime/effects-at-work.ts'
import { effectId } from '../../log/ids.ts'
import type { Environment, RuntimePorts } from '../../ports/runtime.ts'
import { Alarm } from '../../stream/runtime/alarm.ts'
import { outcomeRetry, type Retry } from '../../stream/runtime/append-retry.ts'
import type { WorkspaceOrder } from '../../tree/runtime/workspace-order.ts'
import type { EndRestore, OutcomeCommand } from '../decide/commands.ts'
import { type Owed, owed } from '../decide/owed.ts'
import { type AgentState, callsOf, isFinished } from '../state/state.ts'
import { type AgentEnd, endOf, isAtWork } from './drive-end.ts'
import type { AgentMailbox } from './mailbox.ts'
import { finishRestore } from './perform/finish-restore.ts'
import { brokenOff, performCall } from './perform/perform-call.ts'
import { performModel } from './perform/perform-model.ts'
import { ReusedOutcomes } from './perform/reuse.ts'
import { driftFound, treeNow } from './perform/version-workspace.ts'

type OwedTool = Extract<Owed, { kind: 'tool' }>

/** The driver's view of the other agents of the run. */
export interface InTree {
  readonly order: WorkspaceOrder
  /** False: other agents of the run may have changed files. */
  readonly looksForDrift: boolean
}

/** Drives one agent until it ends or waits: claims it, performs the due effects, and records their outcomes. */
export class Driver {
  private readonly ports: RuntimePorts
  private readonly mailbox: AgentMailbox
  private readonly env: Environment
  private readonly id: string
  private readonly tree: InTree
  private readonly record: ReusedOutcomes
  private epoch = 0
  private readonly atWork = new EffectsAtWork(() => this.alarm.poke())
  private stopping = false
  /** Aborts when the driver stops, because little time remains to save outcomes. */
  private readonly hurry = new AbortController()
  private drain = NEVER
  private failure: unknown = null
  private readonly alarm = new Alarm()

  constructor(ports: RuntimePorts, mailbox: AgentMailbox, env: Environment, driverId: string, tree: InTree) {
    this.tree = tree
    this.ports = ports
    this.mailbox = mailbox
    this.env = env
    this.id = driverId
    this.record = new ReusedOutcomes(ports, env)
  }

  /**
   * Rejects if the log refuses an append; a later drive continues. `drain`: finishes effects whose intent is recorded
   * and starts no new ones.
   */
  async drive(signal: AbortSignal, drain: AbortSignal = NEVER): Promise<AgentEnd> {
    this.drain = drain
    if (drain.aborted || signal.aborted) return { end: 'interrupted' }
    const stopListening = this.mailbox.listen(() => this.alarm.poke())
    const onAbort = () => {
      if (signal.aborted) this.hurry.abort(signal.reason)
      this.alarm.poke()
    }
    signal.addEventListener('abort', onAbort)
    drain.addEventListener('abort', onAbort)
    try {
      await this.env.reap()
      await this.claim()
      await this.lookAtFiles()
      await this.submit({ kind: 'proceed' }, `proceed:${this.id}:${this.epoch}`)
      const end = await this.loop(signal)
      await this.stop()
      if (this.failure !== null) throw this.failure
      return end
    } finally {
      stopListening()
      signal.removeEventListener('abort', onAbort)
      drain.removeEventListener('abort', onAbort)
      await this.stop()
    }
  }

  /** Aborts running effects and records their known outcomes. The next driver handles the rest. */
  private async stop(): Promise<void> {
    this.stopping = true
    this.hurry.abort(new Error('the driver has stopped'))
    await this.atWork.stop(() => brokenOff(this.state))
  }

  private async claim(): Promise<void> {
    await this.ports.crashPoint?.('before_claim')
    const left = isAtWork(this.state) ? this.state.driver : null
    const claim = { kind: 'claim', driverId: this.id, build: this.ports.build } as const
    const asking = { by: { kind: 'driver', id: this.id }, commandId: `claim:${this.id}` } as const
    const retry = this.retrying('the claim')
    await retry.repeat(() => this.mailbox.submit(claim, asking, { fact: true, retry }))
    this.epoch = this.state.driver?.epoch ?? 0
    if (left !== null) this.ports.takenOver?.(this.state.agentId, left.id)
    await this.ports.crashPoint?.('after_claim')
  }

  private async lookAtFiles(): Promise<void> {
    const restored = await finishRestore(this.ports, this.env, this.state)
    if (restored !== null) await this.submit(restored, `restore:${restored.restore}`)
    const drift = this.tree.looksForDrift ? await driftFound(this.ports, this.env, this.state) : null
    if (drift !== null) await this.submit(drift, `drift:${drift.found}:${this.epoch}`)
  }

  private async loop(signal: AbortSignal): Promise<AgentEnd> {
    for (;;) {
      if (this.failure !== null) throw this.failure
      const { state } = this
      if (isFinished(state) && this.atWork.size === 0) return endOf(state) as AgentEnd
      if (state.driver?.epoch !== this.epoch || state.driver.id !== this.id) {
        return { end: 'overtaken', epoch: state.driver?.epoch ?? 0 }
      }
      if (signal.aborted) return { end: 'interrupted' }
      const due = this.reconcile(state)
      const end = this.atWork.size === 0 ? endOf(state) : null
      if (end !== null) return end
      if (this.drain.aborted && this.atWork.size === 0 && !this.promised(state)) return { end: 'interrupted' }
      this.alarm.moved = false
      // While no effect is running, no outcome would trigger a decision on the latest requests of people.
      if (this.atWork.size === 0 && (await this.proceeds())) continue
      if (this.failure === null && !signal.aborted) await this.alarm.next(this.ports.clock, due)
      if (!this.alarm.moved && !signal.aborted) await this.proceeds()
    }
  }

  /** Takes the steps that state and time allow. False: there was nothing to decide. */
  private async proceeds(): Promise<boolean> {
    const before = this.state.revision
    await this.submit({ kind: 'proceed' }, `wake:${this.id}:${this.ports.clock.now()}`)
    return this.state.revision !== before
  }

  /**
   * Whether an irreversible call waits for its next attempt, which the next driver would take for a started attempt.
   */
  private promised(state: AgentState): boolean {
    return callsOf(state).some(
      ({ stage, effect }) => effect === 'irreversible' && stage.at === 'running' && stage.epoch === this.epoch,
    )
  }

  /** Starts due effects and aborts running effects that are no longer due. Returns the next time to check, ms. */
  private reconcile(state: AgentState): number {
    // Another host may have written with a clock that is ahead. Its calls do not wait until this clock is there too.
    // Later attempts do: a decision before `notBefore` takes the attempt as not begun.
    const now = Math.max(this.ports.clock.now(), state.at)
    const list = owed(state)
    let due = Number.POSITIVE_INFINITY
    const wanted = new Set<string>()
    for (const effect of list) {
      if (effect.kind === 'wake') due = Math.min(due, effect.at)
      else wanted.add(effect.id)
    }
    this.atWork.keepOnly(wanted, () => brokenOff(state))
    for (const effect of list) {
      if (effect.kind === 'wake' || this.atWork.has(effect.id)) continue
      if (effect.kind === 'tool' && effect.notBefore > now) due = Math.min(due, effect.notBefore)
      else this.start(effect)
    }
    return due
  }

  private start(effect: Exclude<Owed, { kind: 'wake' }>): void {
    this.atWork.start(effect.id, (signal) =>
      this.perform(effect, signal).catch((error: unknown) => {
        this.failure ??= error
      }),
    )
  }

  private async perform(effect: Exclude<Owed, { kind: 'wake' }>, signal: AbortSignal): Promise<void> {
    const { ports, env } = this
    if (effect.kind === 'model') {
      await ports.crashPoint?.('before_model')
      if (!(await this.stillOwed(effect))) return
      const { messages } = this.mailbox
      const taken = await this.record.model(this.state, messages, effect)
      const fact = taken ?? (await performModel(ports, env, this.state, messages, effect, signal))
      await ports.crashPoint?.('after_model')
      if (signal.aborted && fact.kind === 'model_failed') return
      await this.submit(fact, effect.id)
    } else if (effect.kind === 'version') {
      // The step is read before the files: a call that ends later needs the next version.
      const step = this.state.unversioned?.to
      if (step === undefined || !(await this.stillOwed(effect))) return
      const version = await treeNow(ports, env)
      if ('unversioned' in version) ports.warn?.(this.state.agentId, version.unversioned.message)
      await this.submit({ kind: 'versioned', step, version }, effect.id)
    } else {
      await ports.crashPoint?.('before_tool')
      const call = callsOf(this.state).find((one) => one.id === effect.toolCallId)
      if (call !== undefined) await this.inOrder(call, signal, () => this.performCall(effect, call, signal))
    }
  }

  private async performCall(effect: OwedTool, { id, effect: kind }: Call, signal: AbortSignal): Promise<void> {
    const held = await this.stillOwed(effect).catch((error: unknown) => this.notBegun(effect, error))
    if (!held) return
    const { answer, told } = this.mailbox
    const call = callsOf(this.state).find((one) => one.id === id)
    if (answer === null || call === undefined) throw new Error(`${id} has no arguments in the log`)
    const { ports, env, state } = this
    const block = answer.body.content[answer.body.calls[call.index]?.block ?? -1]
    const args = block === undefined ? null : callArguments(block)
    const fact = call.reused
      ? await this.record.tool(state, answer, call)
      : await performCall({ ports, env, state, call, args, stream: this.mailbox.stream, told, signal })
    await this.ports.crashPoint?.('after_tool')
    // The next driver handles a call that may run again or has a probe.
    if (this.stopping && signal.aborted && fact.kind === 'tool_failed' && kind !== 'irreversible') return
    await this.submit(fact, effect.id)
  }

  /** Agents of a run that share a workspace are ordered like the calls of one agent. */
  private async inOrder(call: Call, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const specs = (name: string) => this.state.spec.tools.find((tool) => tool.name === name)
    if (this.env.workspace === null || specs(call.toolName)?.control) return work()
    let begun = false
    try {
      await this.tree.order.run(call, specs, signal, () => {
        begun = true
        return work()
      })
    } catch (error) {
      if (begun || !signal.aborted) throw error
      if (this.stopping && call.effect !== 'irreversible') return
      const { code, message } = brokenOff(this.state)
      const { id: toolCallId, toolName, attempt } = call
      const failure = { code, message: `it was not begun: ${message}`, transient: false, beforeEffect: true }
      const about = { toolCallId, toolName, attempt, durationMs: 0 }
      await this.submit({ kind: 'tool_failed', ...about, error: failure }, effectId(toolCallId, attempt))
    }
  }

  /** Checks the ownership in the log right before each effect, because another driver may have claimed the agent. */
  private async stillOwed(effect: Exclude<Owed, { kind: 'wake' }>): Promise<boolean> {
    await this.mailbox.refresh()
    return (
      this.state.driver?.epoch === this.epoch &&
      owed(this.state).some((one) => one.kind !== 'wake' && one.id === effect.id)
    )
  }

  /** Fails an irreversible call explicitly, because the next driver could not tell that it never started. */
  private async notBegun({ id, toolCallId, attempt }: OwedTool, cause: unknown): Promise<false> {
    const call = callsOf(this.state).find((one) => one.id === toolCallId)
    if (call?.effect !== 'irreversible') throw cause
    const message = 'it was not begun: the log could not be read to see whether this driver still holds the agent'
    this.ports.warn?.(this.state.agentId, `${toolCallId}: ${message}: ${(cause as Error).message}`)
    const error = { code: 'EXECUTION_FAILED', message, transient: !this.hurry.signal.aborted, beforeEffect: true }
    const { toolName } = call
    await this.submit({ kind: 'tool_failed', toolCallId, toolName, attempt, durationMs: 0, error }, id)
    return false
  }

  /** Records an outcome under the retry policy, after saving the values of its secret references. */
  private async submit(fact: OutcomeCommand | EndRestore, commandId: string): Promise<void> {
    this.atWork.outcome(commandId)
    const retry = this.retrying('the outcome')
    await retry.repeat(async () => {
      await this.env.secrets.keep()
      const rests = this.stopping || this.drain.aborted
      const driver = { id: this.id, epoch: this.epoch, ...(rests ? { rests: true as const } : {}) }
      const { health } = this.ports
      const asking = {
        by: { kind: 'driver', id: this.id },
        commandId,
        driver,
        ...(health && { health: (model: string) => health.figures(model) }),
      } as const
      await this.mailbox.submit(fact, asking, { fact: true, retry })
    })
  }

  private retrying(what: string): Retry {
    return outcomeRetry(this.ports, this.mailbox.agentId, what, this.hurry.signal)
  }

  private get state(): AgentState {
    const { state } = this.mailbox
    if (state === null) throw new Error(`${this.mailbox.agentId} has no events`)
    return state
  }
}

const NEVER = new AbortController().signal

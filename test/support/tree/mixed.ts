import type { AgentCommand } from '../../../domain/agent/decide/commands.ts'
import { DeliveryRefused } from '../../../domain/calls/errors.ts'
import type { Delivery } from '../../../domain/courier/delivery-commands.ts'
import { rankOf, undelivered } from '../../../domain/courier/ledger.ts'
import { externalDeliveryOf } from '../../../domain/external/courier.ts'
import { isRunOver } from '../../../domain/external/state.ts'
import type { ReportedUsage } from '../../../domain/external/usage.ts'
import { idOf, kindOf } from '../../../domain/log/owner.ts'
import { EXITED, Run } from '../external/decider.ts'
import { Agents } from './agents.ts'

const HASH = '6'.repeat(64)
export const USED: ReportedUsage = {
  ...{ scope: 'run', inputTokens: 70, cachedInputTokens: 30, outputTokens: 7 },
  cost: { nanoDollars: 11, scope: 'run' },
}

/** A tree with some external agents, whose programs, drivers and crashes are also moves of a test. */
export class Mixed extends Agents {
  readonly others = new Map<string, Run>()

  protected override accept(target: string, command: AgentCommand): readonly unknown[] {
    if (kindOf(target) !== 'external') return super.accept(target, command)
    const run = this.others.get(idOf(target)) ?? new Run()
    run.stream = target
    const written = this.on(run, () => run.decide(command as Delivery))
    if (run.state !== null) this.others.set(idOf(target), run)
    return written
  }

  private on<T>(run: Run, act: () => T): T {
    run.now = Math.max(run.now, this.now)
    const done = act()
    this.now = Math.max(run.now, this.now)
    return done
  }

  /** One move of an external agent. False: it changes nothing. */
  other(childId: string, does: 'starts' | 'uses' | 'ends' | 'dies' | 'tells' | 'tells again' | 'forgets'): boolean {
    const run = this.others.get(childId)!
    const { state } = run
    if (state === null) return false
    if (does === 'tells' || does === 'tells again' || does === 'forgets') return this.tell(run, does)
    return this.on(run, () => {
      if (isRunOver(state)) return false
      // Like a driver: claims only a run that was never started.
      if (does === 'starts' && state.stage.at === 'requested') {
        run.claim(`d${this.now}`)
        return run.decide({ kind: 'proceed' }).length > 0
      }
      if (state.stage.at !== 'running') return false
      if (does === 'uses') return run.decide({ kind: 'usage', usage: USED }).length > 0
      if (does === 'dies') {
        run.claim(`s${this.now}`)
        return run.decide({ kind: 'reaped', ended: 0 }).length > 0
      }
      const cancelled = { outcome: 'cancelled', exit: { code: null, signal: 'SIGTERM' } } as const
      return run.decide({ kind: 'end', outcome: state.cancelledAt === null ? EXITED : cancelled }).length > 0
    })
  }

  private tell(run: Run, how: 'tells' | 'tells again' | 'forgets'): boolean {
    const state = run.state!
    const end = run.events.find(({ type }) => type === 'external_ended')
    const target = state.reportsTo!
    const owed = state.courier.owed[target]
    if (end === undefined || owed === undefined) return false
    const again = owed.from > owed.last
    if (again !== (how === 'tells again')) return false
    const command = externalDeliveryOf(state, end, { stream: run.stream, target, after: -1, hash: HASH })!
    try {
      const written = this.submit(idOf(target), command)
      if (again && written.length > 0) throw new Error('an end was accepted twice')
    } catch (error) {
      if (!(error instanceof DeliveryRefused)) throw error
    }
    if (how !== 'tells') return false
    const done = {
      kind: 'delivered',
      target,
      upTo: end.revision,
      accepted: rankOf(command.origin),
      bounced: [],
    } as const
    return this.on(run, () => run.decide(done).length > 0)
  }

  override settle(): void {
    for (let round = 0; round < 5_000; round++) {
      let moved = false
      for (const { source, target } of this.pairs()) {
        this.deliver(source, target, 'next')
        moved = true
      }
      for (const agentId of [...this.streams.keys()]) moved = this.drive(agentId) || moved
      for (const childId of this.others.keys())
        for (const does of ['starts', 'ends', 'tells'] as const) moved = this.other(childId, does) || moved
      if (!moved && !this.passesDeadline()) return
    }
    throw new Error('the tree does not come to rest')
  }

  get allDelivered(): boolean {
    return [...this.others.values()].every(({ state }) => undelivered(state!).length === 0) && this.pairs().length === 0
  }
}

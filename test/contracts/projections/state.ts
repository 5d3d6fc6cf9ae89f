import fc from 'fast-check'
import { expect, it } from 'vitest'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { waitsOf } from '../../../domain/agent/decide/waiting.ts'
import { wakeAt } from '../../../domain/agent/decide/wake-at.ts'
import { agentStateAt } from '../../../domain/agent/runtime/history/replay.ts'
import { type AgentState, callsOf, isFinished } from '../../../domain/agent/state/state.ts'
import { listApprovals } from '../../../projections/agent/queries/approvals.ts'
import { listQuestions } from '../../../projections/agent/queries/asks.ts'
import { machineStates } from '../../../projections/agent/queries/machine-state.ts'
import { phasesOf } from '../../../projections/agent/queries/phases.ts'
import { waitingOf } from '../../../projections/agent/queries/waiting.ts'
import { Projector } from '../../../projections/engine/projector/projector.ts'
import { dueBefore, nextDue } from '../../../projections/engine/queries/due.ts'
import { law } from '../../support/laws.ts'
import { type Plan, planArbitrary } from '../../support/plans.ts'
import type { Fate } from '../../support/process.ts'
import type { Tables, TablesKit } from '../../support/projections/kit.ts'
import { World } from '../../support/world.ts'

export function stateContract(kit: TablesKit): void {
  it('after every append the rows say of an agent what its folded state says (law)', async () => {
    const fates = fc.array(fc.record({ at: fc.integer({ min: 1, max: 80 }), dies: fc.boolean() }), { maxLength: 2 })
    await law(fc.tuple(planArbitrary, fates), kit.cases(40), ([plan, fate]) => lived(plan, fate, kit))
  })
}

/** Lives a plan, looking at the tables after every append, while nothing else is appended and no time passes. */
async function lived(plan: Plan, fates: readonly Fate[], kit: TablesKit): Promise<void> {
  const tables = await kit.fresh()
  const store = await tables.open()
  let faults: unknown = null
  const log = new LookedAt(() => world.clock.standing(look))
  const world = new World(plan, fates, log)
  const projector = new Projector({ log, blobs: world.blobs, store })
  // What is thrown within an append would be taken for a fault of the log.
  const look = async () => {
    if (faults !== null) return
    await projector.catchUp()
    const { state } = await agentStateAt({ log, blobs: world.blobs }, world.runId, null)
    await agree(state, tables).catch((fault: unknown) => {
      faults = fault
    })
  }
  try {
    await world.live()
  } finally {
    await log.idle
    await store.close()
  }
  if (faults !== null) throw faults
}

/** A log that is looked at after each append, before the next one. */
class LookedAt extends MemoryLog {
  idle: Promise<unknown> = Promise.resolve()
  private readonly look: () => Promise<void>
  constructor(look: () => Promise<void>) {
    super()
    this.look = look
  }

  override append(...args: Parameters<MemoryLog['append']>): ReturnType<MemoryLog['append']> {
    const appended = this.idle.then(async () => {
      const result = await super.append(...args)
      await this.look()
      return result
    })
    this.idle = appended.catch(() => undefined)
    return appended
  }
}

async function agree(state: AgentState, { db }: Tables): Promise<void> {
  const told = `revision ${state.revision}, ${state.machine.status}`
  const row = await db.selectFrom('agents').selectAll().where('id', '=', state.agentId).executeTakeFirstOrThrow()
  const run = await db.selectFrom('runs').selectAll().where('id', '=', state.runId).executeTakeFirstOrThrow()
  const standing = (await machineStates(db, [state.runId])).get(state.agentId)!
  expect(standing, told).toEqual({ machineState: state.machine.status, paused: state.paused && !isFinished(state) })
  expect((await phasesOf(db, [state.runId])).get(state.agentId) ?? '', told).toBe(state.phase)
  const { turn, step, revision, status } = row
  const going = { paused: row.paused === 1 && row.stepping === 0, stepping: row.stepping === 1 }
  expect({ turn, step, revision, status, epoch: row.epoch, ...going }, told).toEqual({
    turn: state.turn,
    step: state.step,
    revision: state.revision,
    status: statusOf(state),
    epoch: state.driver?.epoch ?? 0,
    paused: state.paused,
    stepping: state.stepping,
  })
  expect(run.status, told).toBe(status)
  expect(row.cancel_requested_at !== null, told).toBe(state.cancel !== null)
  const pending = await listApprovals(db, { runId: state.runId, state: 'pending' })
  const byId = (a: string, b: string) => (a < b ? -1 : 1)
  expect(
    pending.map((one) => `${one.tool_call_id} until ${Date.parse(one.expires_at ?? '')}`).sort(byId),
    told,
  ).toEqual(
    approvalsOf(state)
      .map(([id, until]) => `${id} until ${until}`)
      .sort(byId),
  )
  const waiting = (await waitingOf(db, [state.runId])).get(state.runId) ?? []
  expect(waiting.map((one) => `${one.for} ${one.toolCallId ?? ''}`).sort(byId), told).toEqual(
    waitsOf(state)
      .map((one) => `${one.for} ${one.toolCallId ?? ''}`)
      .sort(byId),
  )
  const questions = (await listQuestions(db, state.runId)).map((one) => one.agent_id)
  expect(questions, told).toEqual(waiting.flatMap((one) => (one.for === 'input' ? [one.agentId] : [])))
  await dueAgrees(state, db, row.undriven === 1, told)
}

/** The row of `due` is the wake time of the state: no work is missing. */
async function dueAgrees(state: AgentState, db: Tables['db'], undriven: boolean, why: string): Promise<void> {
  const due = await dueBefore(db, null)
  const wake = state.driver === null && undriven ? null : wakeAt(state)
  const reason = state.cancel === null ? 'owed' : 'cancel'
  expect(due, why).toEqual(wake === null ? [] : [{ agentId: state.agentId, runId: state.runId, wakeAt: wake, reason }])
  // An agent that needs its driver at once waits for no time.
  expect(await nextDue(db, -1), why).toBe(wake !== null && wake <= state.at ? null : wake)
}

function statusOf({ machine }: AgentState): string {
  const said = { DONE: 'completed', ERROR: 'failed', RECOVERY: 'recovering' } as const
  return machine.status in said ? said[machine.status as keyof typeof said] : 'active'
}

const approvalsOf = (state: AgentState): (readonly [string, number])[] =>
  callsOf(state).flatMap(({ id, stage }) => (stage.at === 'approval' ? [[id, stage.expiresAt] as const] : []))

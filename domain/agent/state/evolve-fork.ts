import type { AppendRoot } from '../../log/root.ts'
import type { AgentSpec } from '../../tree/spec.ts'
import type { BodyOf, EventOf } from '../events/events.ts'
import { completing } from './controls.ts'
import { settleCalls } from './evolve-calls.ts'
import { FORKED } from './evolve-tree.ts'
import { lossOfFork } from './loss-rules.ts'
import { type AgentState, activityOf, addSpent, BLANK, callsOf, NOTHING_SPENT, turnIsOpen } from './state.ts'

/** The state of a fork: the source's state at the fork point under the new id, without unfinished work. */
export function evolveFork(state: AgentState, event: EventOf<'forked'>, append: AppendRoot): AgentState {
  const { workspace, step, reuse } = event.body
  const { spent, inherited } = state
  const settled = turnIsOpen(state) ? settleCalls(state, callsOf(state), append, event.bodyHash) : state
  return {
    ...settled,
    agentId: event.agentId,
    runId: event.runId,
    parent: null,
    depth: 0,
    spec: forkedSpec(state.spec, event.body),
    specHash: event.bodyHash,
    hashSalt: state.hashSalt || (event.body.hashSalt ?? ''),
    step,
    tree: workspace?.tree ?? null,
    unversioned: null,
    unresolved: [],
    abandoned: [],
    lostAttempts: [],
    loss: lossOfFork(state),
    machine: continues(state)
      ? { status: 'OBSERVATION', outcome: 'cancelled', calls: [], ended: true }
      : { status: 'IDLE' },
    driver: null,
    // Prompt and toolset refer to events of the source.
    prompt: null,
    toolset: null,
    compression: { ...state.compression, summarizing: null, knowledge: null },
    // A fork has its own budget and time; the source's spending is on the source's bill.
    spent: NOTHING_SPENT,
    inherited: addSpent(addSpent(inherited, spent), state.family.settled.spent),
    ...FORKED,
    reuse: reuse === undefined ? null : { ...reuse, after: null, models: 0, tools: 0, left: null },
    clock: BLANK.clock,
    paused: false,
    stepping: false,
    cancel: null,
    // A fork that follows the record is judged by the same failures as its source.
    ...(reuse === undefined ? FORGIVEN : {}),
    forgivenAt: event.revision,
    // Standing approvals of the source are not inherited: the person who forks gives new ones.
    standing: [],
    restoring: null,
    ...(reuse === undefined ? { permissions: [] } : {}),
    commands: [event.commandId],
  }
}

/** Failures of the source that do not count against the fork. */
const FORGIVEN = {
  violations: 0,
  textOnly: 0,
  modelFailures: 0,
  failedModel: null,
  failedModels: [],
  failedCalls: [],
} satisfies Partial<AgentState>

export function forkedSpec(spec: AgentSpec, { workspace, changes }: BodyOf<'forked'>): AgentSpec {
  const { routing, ...named } = spec.models
  // A fork that names its model uses that model instead of routing rules.
  const models =
    changes.model === undefined ? { ...named, ...(routing && { routing }) } : { ...named, requested: changes.model }
  const limits = { ...spec.limits, ...defined(changes.limits ?? {}) }
  const budget = { ...spec.budget, ...defined(changes.budget ?? {}) }
  // Files written in the run are measured from the beginning of the source run.
  const folder = workspace && { path: workspace.path, tree: spec.workspace?.tree ?? workspace.tree }
  return { ...spec, models, workspace: folder, limits, budget }
}

/** Whether a fork continues by itself. False if its source had ended, was idle, was in recovery or was completing. */
export function continues(state: AgentState): boolean {
  const activity = activityOf(state.machine)
  if (activity === null || state.machine.status === 'RECOVERY') return false
  return !completing(state)
}

function defined<T extends object>(patch: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

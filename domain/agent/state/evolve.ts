import { granted, withoutPermission } from '../../calls/permissions.ts'
import { SHOWN_BYTES } from '../../calls/result-text.ts'
import { type AppendRoot, appendRoot, EMPTY_ROOT } from '../../log/root.ts'
import { ImpossibleEvent } from '../../stream/impossible.ts'
import type { AgentEvent, EventOf } from '../events/events.ts'
import { NO_TASKS, updatedTasks } from '../tasks/state.ts'
import { completing } from './controls.ts'
import { courierAfter } from './courier.ts'
import { AFTER_THE_END, NO_CONSEQUENCE, STARTS_WORK } from './event-kinds.ts'
import { evolveCalls, toolChanged, withoutAbandoned } from './evolve-calls.ts'
import { compressed, evolveSummaryFailure, expandedBy, knowledgeAdded } from './evolve-context.ts'
import { evolveFork } from './evolve-fork.ts'
import { addWarning, recovered } from './evolve-recovery.ts'
import { evolveTree, familyAfter, waitForReply } from './evolve-tree.ts'
import {
  answered,
  called,
  evolveLateAnswer,
  evolveRouted,
  evolveTurnEnd,
  failedAttempt,
  grown,
  heldAttempt,
  lostAttempt,
  thinking,
} from './evolve-turns.ts'
import { changedFiles, versioned } from './evolve-versions.ts'
import { addLostCalls, lossAccepted, lossReleased, lostCallDecided, withUndecided } from './loss-rules.ts'
import { busAfter } from './message-bus.ts'
import { gateKey, initialPhase } from './phases.ts'
import { restoreBegun, restoreEnded } from './restore-rules.ts'
import { reuseAfter, sizeInRecord } from './reuse-rules.ts'
import { type AgentState, BLANK, isFinished, REMEMBERED, turnIsOpen } from './state.ts'
import { advanceClock } from './work-clock.ts'

/**
 * The reducer: returns the state after one more event. Pure. Throws {@link ImpossibleEvent} if the event cannot follow.
 * `null` is the state before the first event.
 */
export function evolveAgent(state: AgentState | null, event: AgentEvent, append: AppendRoot = appendRoot): AgentState {
  if (state === null) return start(event)
  const next = apply(state, event, append)
  const clock = advanceClock(state, next, event)
  const person = event.actor.kind === 'user' || event.actor.kind === 'approver'
  return {
    ...next,
    revision: event.revision,
    at: event.at,
    clock,
    courier: courierAfter(next, event),
    family: familyAfter(state, next, event),
    bus: busAfter(next.bus, event),
    reuse: reuseAfter(next, event),
    commands: person ? remember(next.commands, event.commandId) : next.commands,
    correlation: STARTS_WORK.has(event.type) ? correlationOf(event) : next.correlation,
    follows: hasConsequences(state, event) ? event.revision : next.follows,
  }
}

const READ: ReadonlySet<string> = new Set(['user_input', 'message_received', 'message_bounced'])

/** Whether the event causes a further step by itself. Input within a turn does not: the next turn reads it. */
const hasConsequences = (before: AgentState, { type }: AgentEvent): boolean =>
  READ.has(type) ? !turnIsOpen(before) : !NO_CONSEQUENCE.has(type)

const correlationOf = (event: AgentEvent): string => event.correlationId ?? event.commandId

export function fold(state: AgentState | null, events: Iterable<AgentEvent>, append?: AppendRoot): AgentState | null {
  let folded = state
  for (const event of events) folded = evolveAgent(folded, event, append)
  return folded
}

function start(event: AgentEvent): AgentState {
  if (event.type !== 'agent_started') throw new ImpossibleEvent(event, 'an agent begins with agent_started')
  const { spec, depth, parent, hashSalt = '' } = event.body
  return {
    ...BLANK,
    courier: courierAfter({ ...BLANK, spec }, event),
    spec,
    agentId: event.agentId,
    runId: event.runId,
    depth,
    parent: parent ?? null,
    specHash: event.bodyHash,
    hashSalt,
    ...(parent === undefined ? {} : { bus: { ...BLANK.bus, born: event.at } }),
    revision: event.revision,
    at: event.at,
    phase: initialPhase(spec.role),
    tree: spec.workspace?.tree ?? null,
    commands: [event.commandId],
    correlation: correlationOf(event),
  }
}

function remember(commands: readonly string[], id: string): readonly string[] {
  return commands.at(-1) === id ? commands : [...commands.slice(1 - REMEMBERED), id]
}

function apply(state: AgentState, event: AgentEvent, append: AppendRoot): AgentState {
  if (isFinished(state) && !AFTER_THE_END.has(event.type)) throw new ImpossibleEvent(event, 'the agent has finished')
  switch (event.type) {
    case 'agent_started':
      throw new ImpossibleEvent(event, 'the agent was started before')
    case 'forked':
      return evolveFork(state, event, append)
    case 'driver_claimed': {
      if (event.body.epoch !== (state.driver?.epoch ?? 0) + 1)
        throw new ImpossibleEvent(event, 'its epoch is not the next')
      return { ...state, driver: { id: event.body.driverId, epoch: event.body.epoch } }
    }
    case 'user_input':
      return { ...unread(state, event, append), unreadCorrelation: correlationOf(event) }
    case 'message_bounced':
      return unread(state, event, append)
    case 'message_received':
      // The answer that a call waits for becomes the result of that call.
      return event.toolCallId === undefined ? unread(state, event, append) : state
    case 'message_sent':
      return waitForReply(state, event)
    case 'turn_start': {
      if (turnIsOpen(state)) throw new ImpossibleEvent(event, 'a turn is open')
      if (event.turn !== state.turn + 1) throw new ImpossibleEvent(event, `turn ${state.turn + 1} is next`)
      const begun = addWarning(addLostCalls(readInputs(state, append), append), append)
      return { ...begun, turn: event.turn, machine: thinking(begun, { at: 'unrouted' }) }
    }
    case 'model_routed':
      return evolveRouted(state, event)
    case 'prompt_set':
      return { ...state, prompt: { revision: event.revision, hash: event.bodyHash, ...event.body } }
    case 'tools_changed':
      return { ...state, toolset: { revision: event.revision, hash: event.bodyHash, ...event.body } }
    case 'model_call_start':
      return called(state, event)
    case 'model_call_end':
      return answered(state, event, append)
    case 'model_held':
      return heldAttempt(state, event)
    case 'model_attempt_lost':
      return lostAttempt(state, event)
    case 'model_late':
      return evolveLateAnswer(state, event)
    case 'late_outcome':
      return { ...resolved(state, event), abandoned: withoutAbandoned(state, event) }
    case 'tool_call_resolved':
      return isFinished(state) ? resolved(state, event) : evolveCalls(state, event)
    case 'tool_call_start':
    case 'tool_call_intent':
    case 'tool_call_retry':
    case 'tool_call_unknown':
    case 'approval_requested':
    case 'approval_supported':
    case 'approval_decided':
    case 'approval_expired':
      return evolveCalls(state, event)
    case 'approval_voided':
      return toolChanged(evolveCalls(state, event), event)
    case 'tool_call_end': {
      if (event.body.step !== state.step + 1) throw new ImpossibleEvent(event, `step ${state.step + 1} is next`)
      const next = changedFiles(evolveCalls(state, event), event)
      return { ...next, step: event.body.step, context: grown(state, Math.min(sizeInRecord(event), SHOWN_BYTES)) }
    }
    case 'workspace_versioned':
      return versioned(state, event)
    case 'turn_end':
      return evolveTurnEnd(state, event, append)
    case 'standing_approval':
      return { ...state, standing: [...new Set([...state.standing, ...event.body.tools])], ...forgiven(event) }
    case 'permission_granted':
      return { ...state, permissions: granted(state.permissions, event), ...forgiven(event) }
    case 'permission_ended':
    case 'permission_revoked':
      return { ...state, permissions: withoutPermission(state.permissions, event.body.permission) }
    case 'restore_requested':
      return restoreBegun(state, event)
    case 'restore_ended':
      return restoreEnded(state, event)
    case 'tasks_updated':
      return {
        ...state,
        tasks: updatedTasks(state.tasks ?? NO_TASKS, event, append),
        context: grown(state, event.size),
      }
    case 'context_compressed':
      return compressed(state, event)
    case 'context_expanded':
      return expandedBy(state, event)
    case 'summary_failed':
      return evolveSummaryFailure(state, event)
    case 'knowledge_added':
      return knowledgeAdded(state, event)
    case 'context_set':
      return { ...state, variables: append(state.variables, event.bodyHash) }
    case 'artifact_registered': {
      const { type } = event.body.artifact
      if (state.artifactTypes.includes(type)) return state
      return { ...state, artifactTypes: [...state.artifactTypes, type].sort() }
    }
    case 'gate_checked': {
      const gate = gateKey(event.body.after, event.body.gate)
      const others = state.gatesPassed.filter((one) => one !== gate)
      return { ...state, gatesPassed: event.body.passed ? [...others, gate].sort() : others }
    }
    case 'phase_advanced':
      return { ...state, phase: event.body.to, gatesPassed: keptGates(state, event), ...forgiven(event), textOnly: 0 }
    case 'recovery':
      return recovered(state, event)
    case 'completion':
      if (!completing(state)) throw new ImpossibleEvent(event, 'no call that completes the run has succeeded')
      return { ...withUndecided(state), machine: { status: 'DONE' } }
    case 'error':
      return event.body.recoverable ? failedAttempt(state, event) : ended(state, event)
    case 'paused':
      return { ...state, paused: true, stepping: false }
    case 'resumed':
      return { ...state, paused: false, stepping: false }
    case 'step_requested':
      return { ...state, paused: false, stepping: true }
    case 'cancel_requested': {
      if (state.cancel !== null) return state
      const { deadlineMs, origin: _, ...why } = event.body
      return { ...state, cancel: { deadlineAt: event.at + deadlineMs, by: event.actor.id, ...why } }
    }
    case 'workspace_drifted':
      return { ...state, tree: event.body.found, ...forgiven(event) }
    case 'loss_accepted':
      // The lost part may have contained the end of a permission.
      return { ...lossAccepted(state, event), permissions: [] }
    case 'lost_call_decided':
      return lostCallDecided(state, event, append)
    case 'loss_released':
      return lossReleased(state)
    case 'residue':
    case 'erased':
    case 'request_noted':
    case 'topic_subscribed':
    case 'subscription_added':
    case 'message_published':
    case 'message_distributed':
      return state
    case 'reuse_ended':
      // The permissions were given to the recorded run; the person who made the fork gives new ones.
      return { ...state, permissions: [] }
    default:
      return evolveTree(state, event)
  }
}

/**
 * Adds input for the next turn. Only a person's input sets the correlation id, because agents continue a person's work.
 */
const unread = (state: AgentState, event: AgentEvent, append: AppendRoot): AgentState => ({
  ...state,
  ...forgiven(event),
  unread: state.unread + 1,
  context: grown(state, event.size),
  unreadRoot: append(state.unreadRoot, event.bodyHash),
})

/** A change after which failed calls may succeed, including those of the open turn. */
const forgiven = ({ revision }: AgentEvent) => ({ failedCalls: [], forgivenAt: revision })

/** The outcome arrived late, or a person decided it. */
const resolved = (state: AgentState, { toolCallId }: AgentEvent): AgentState => ({
  ...state,
  unresolved: state.unresolved.filter((id) => id !== toolCallId),
})

/** The passed gates without those of the phase that the agent returns to and of later phases. */
function keptGates(state: AgentState, event: EventOf<'phase_advanced'>): readonly string[] {
  const phases = state.spec.role?.phases.map((phase) => phase.name) ?? []
  const to = phases.indexOf(event.body.to)
  if (to > phases.indexOf(event.body.from)) return state.gatesPassed
  const lapsed = new Set(
    state.spec.role?.qualityGates
      .filter((gate) => phases.indexOf(gate.after) >= to)
      .map((gate) => gateKey(gate.after, gate.check)),
  )
  return state.gatesPassed.filter((gate) => !lapsed.has(gate))
}

function ended(state: AgentState, event: EventOf<'error'>): AgentState {
  if (turnIsOpen(state)) throw new ImpossibleEvent(event, 'a turn is open')
  return { ...withUndecided(state), machine: { status: 'ERROR', code: event.body.code, error: event.body.error } }
}

/** A turn starts: the inputs that arrived before it join the messages. */
function readInputs(state: AgentState, append: AppendRoot): AgentState {
  if (state.unread === 0) return state
  return {
    ...state,
    messages: append(state.messages, state.unreadRoot.hash, state.unread),
    unread: 0,
    unreadRoot: EMPTY_ROOT,
    correlation: state.unreadCorrelation ?? state.correlation,
    unreadCorrelation: null,
  }
}

import { DeliveryRefused } from '../calls/errors.ts'
import type { SettleDelivery } from '../courier/delivery-commands.ts'
import { type Delivery, isNew, senderOf } from '../courier/delivery-commands.ts'
import { settles } from '../courier/ledger.ts'
import { echo } from '../log/issues.ts'
import { outsideSpec } from '../tree/outside-tools.ts'
import { CANCELLED_UNSTARTED, type ExternalDecisionBuilder } from './decision-builder.ts'
import type { RecordedRequest } from './events.ts'
import { type ExternalState, isRunOver } from './state.ts'

// Courier deliveries to a run that a keepup agent delegates: its birth and its cancel. A repeated delivery records
// nothing. A delivery that can never be accepted bounces. Both rules are those of keepup agents.

type Of<K extends Delivery['kind']> = Extract<Delivery, { kind: K }>

const bounce = (reason: string) => new DeliveryRefused('BOUNCED', reason)

export function decideExternalDelivery(
  d: ExternalDecisionBuilder,
  state: ExternalState | null,
  delivery: Delivery,
): void {
  if (state === null) {
    if (delivery.kind !== 'deliver_birth') throw bounce('there is no such agent')
    return beBorn(d, delivery)
  }
  if (!isNew(state, delivery)) return
  if (delivery.kind === 'deliver_birth') throw bounce(`an agent ${echo(state.agentId)} exists already`)
  if (isRunOver(state)) throw bounce('the agent has finished')
  if (delivery.kind !== 'deliver_cancel')
    throw bounce(`${state.backend} is another agent, which reads nothing but its task`)
  if (delivery.origin.stream !== state.reportsTo) throw bounce(`${echo(senderOf(delivery))} is not its parent`)
  if (state.cancelledAt !== null) throw bounce('the agent was asked to end before')
  const { origin, reason } = delivery
  d.emit('cancel_requested', { origin, ...(reason === undefined || reason === '' ? {} : { reason }) })
  if (state.stage.at === 'requested') d.emit('external_ended', CANCELLED_UNSTARTED)
}

function beBorn(d: ExternalDecisionBuilder, { origin, spec, birth, task, backend }: Of<'deliver_birth'>): void {
  if (spec === null || backend === undefined) throw bounce('the parent has no such role, or no other agent for it')
  const { kind, role, extensions, capabilities, price, tools } = backend
  const { runId, depth, parent } = birth
  const { wallClockMs } = spec.limits
  const request: RecordedRequest = {
    prompt: promptOf(spec.role, task),
    ...(spec.workspace === null ? {} : { workingDir: spec.workspace.path }),
    ...(wallClockMs === null ? {} : { timeoutMs: wallClockMs }),
    extensions,
    budget: spec.budget,
    ...(price === undefined ? {} : { price }),
  }
  const gates = [...new Set(spec.role?.qualityGates.map(({ check }) => check))]
  const unmet = gates.length === 0 ? {} : { gates }
  const of = { agentId: parent.agentId, toolCallId: parent.toolCallId, depth, role, ...unmet }
  const own = tools === undefined ? {} : { tools: { spec: outsideSpec(spec, tools), hashSalt: d.hashSalt() } }
  d.emit(
    'external_started',
    { backend: kind, request, capabilities: [...capabilities], parent: of, origin, ...own },
    { runId },
  )
}

/** An external agent has its own conversation, so the role's text is put before the task. */
function promptOf(
  role: { name: string; profile: string; goal: string; prompt?: string | undefined } | null,
  task: string,
) {
  if (role === null) return task
  const own = role.prompt === undefined ? [] : [role.prompt]
  return [`You are ${role.name}, ${role.profile}. Your goal: ${role.goal}.`, ...own, task].join('\n\n')
}

/** Records that an obligation was delivered. A repeated confirmation records nothing. */
export function decideExternalDelivered(
  d: ExternalDecisionBuilder,
  state: ExternalState,
  { kind: _, ...body }: SettleDelivery,
): void {
  if (!settles(state, body)) return
  d.emit('delivered', { ...body, bounced: body.bounced.map(({ revision, reason }) => ({ revision, reason })) })
}

import { instantOf } from '../log/instant.ts'
import type { StreamEvent } from '../stream/aggregate.ts'
import { ImpossibleEvent } from '../stream/impossible.ts'
import { supportersOf } from './approvers.ts'
import type { Call, CallStage } from './call.ts'
import { type PlannedCall, type SentSecret, sentSecrets } from './events/event-parts.ts'
import type { CallBodyOf } from './events/events.ts'

type Changing =
  | 'tool_call_start'
  | 'tool_call_intent'
  | 'tool_call_retry'
  | 'tool_call_unknown'
  | 'tool_call_resolved'
  | 'tool_call_end'
  | 'approval_requested'
  | 'approval_supported'
  | 'approval_decided'
  | 'approval_expired'
  | 'approval_voided'

/** An event that changes a call. */
export type CallEvent = {
  readonly [T in Changing]: StreamEvent & {
    readonly type: T
    readonly body: CallBodyOf<T>
    readonly agentId: string
  }
}[Changing]

const withSecrets = (secrets: readonly SentSecret[]) => (secrets.length === 0 ? {} : { secrets })

/** The initial state of a planned call. `revision`: of the event that contains it. `at`: ms. */
export const openedCall = (planned: PlannedCall, id: string, index: number, revision: number, at: number): Call => ({
  id,
  index,
  argumentsRef: { revision, block: planned.block },
  toolName: planned.toolName,
  ...(planned.askedName === undefined ? {} : { askedName: planned.askedName }),
  argumentsHash: planned.argumentsHash,
  effect: planned.effect,
  reads: planned.reads,
  writes: planned.writes,
  refused: planned.refused ?? null,
  ...(planned.recorded === undefined ? {} : { recorded: planned.recorded }),
  ...(planned.permission === undefined ? {} : { permission: planned.permission }),
  ...withSecrets(sentSecrets(planned)),
  started: false,
  attempt: 0,
  lost: 0,
  startedAt: at,
  since: revision,
  signatures: [],
  stage: { at: 'planned' },
})

/**
 * The call after an event. Throws ImpossibleEvent if the event cannot follow. `epoch`: of the current driver. `mayHave`:
 * the log has lost a part in which a started call may have run.
 */
export function evolveCall(before: Call, event: CallEvent, epoch: number, mayHave = false): Call {
  return { ...changed(before, event, epoch, mayHave), since: event.revision }
}

function changed(call: Call, event: CallEvent, epoch: number, mayHave: boolean): Call {
  const running = (notBefore: number, probe = false): CallStage => ({ at: 'running', epoch, notBefore, probe })
  switch (event.type) {
    case 'tool_call_start':
      if (call.started) throw new ImpossibleEvent(event, 'the call was started before')
      return {
        ...call,
        started: true,
        attempt: event.body.attempt,
        startedAt: event.at,
        effect: event.body.effect,
        ...(event.body.reused ? { reused: true } : {}),
        stage: event.body.intent ? running(event.at) : call.stage,
      }
    case 'tool_call_intent':
      if (call.stage.at !== 'approved' && call.stage.at !== 'resolved')
        throw new ImpossibleEvent(event, 'it was not approved')
      return { ...performed(call), attempt: event.body.attempt, stage: running(event.at) }
    case 'tool_call_retry': {
      if (call.stage.at !== 'running') throw new ImpossibleEvent(event, 'no attempt is open')
      const { lost = false, signature } = event.body
      return {
        ...call,
        attempt: event.body.attempt,
        lost: call.lost + (lost ? 1 : 0),
        signatures: signature === undefined ? call.signatures : [...call.signatures, signature],
        stage: running(event.at + event.body.delayMs, true),
      }
    }
    case 'tool_call_unknown':
      if (call.stage.at !== 'running' && !(mayHave && call.started))
        throw new ImpossibleEvent(event, 'no attempt is open')
      return { ...call, stage: { at: 'doubt' } }
    case 'tool_call_resolved':
      if (call.stage.at !== 'doubt') throw new ImpossibleEvent(event, 'its outcome is not in doubt')
      return {
        ...call,
        lost: call.lost + (event.body.decision === 'run' ? 1 : 0),
        stage: { at: 'resolved', decision: event.body.decision },
      }
    case 'approval_requested':
      return { ...call, stage: asked(event.body) }
    case 'approval_supported':
      return { ...call, stage: supported(call, event) }
    case 'approval_decided':
      if (call.stage.at !== 'approval') throw new ImpossibleEvent(event, 'no approval is awaited')
      if (event.body.decision === 'approved') mustBeLast(call.stage, event)
      return {
        ...withoutFiles(call),
        ...(event.body.files === undefined ? {} : { approvedFiles: event.body.files }),
        stage:
          event.body.decision === 'approved' ? { at: 'approved' } : { at: 'rejected', reason: event.body.reason ?? '' },
      }
    case 'approval_expired':
      if (call.stage.at !== 'approval') throw new ImpossibleEvent(event, 'no approval is awaited')
      return call
    case 'approval_voided':
      // A tool may change while a person decides, or be found changed just before the call runs.
      if (call.stage.at !== 'running' && call.stage.at !== 'approval')
        throw new ImpossibleEvent(event, 'neither an attempt nor an approval is open')
      return {
        ...withoutFiles(call),
        attempt: event.body.attempt,
        lost: call.lost + 1,
        effect: event.body.tool?.effect ?? call.effect,
        stage: { at: 'approved' },
      }
    case 'tool_call_end':
      return {
        ...call,
        stage: {
          at: 'ended',
          success: event.body.success,
          code: event.body.error?.code ?? null,
          ran: call.attempt > 0 && call.stage.at !== 'planned' && !REFUSED_STAGES.has(call.stage.at),
          bodyHash: event.bodyHash,
        },
      }
  }
}

/** A person decided to run the call although the record contains an unknown outcome. */
const performed = ({ reused: _, ...call }: Call): Call => call

/** An approval applies only to the files that it was given for; a voided approval applies to none. */
const withoutFiles = ({ approvedFiles: _, ...call }: Call): Call => call

/** Stages from which a call ends without having run. */
const REFUSED_STAGES = new Set<CallStage['at']>(['planned', 'approval', 'approved', 'rejected'])

const asked = ({ expiresAt, approvers }: CallBodyOf<'approval_requested'>): Awaited => ({
  at: 'approval',
  expiresAt: instantOf(expiresAt),
  ...(approvers !== undefined && { needed: approvers }),
})

type Awaited = Extract<CallStage, { readonly at: 'approval' }>

/**
 * The stage after an approval that is not the last one. Approvals of another question lapse. For a call in doubt only the
 * policy says how many people must approve.
 */
function supported(call: Call, event: Extract<CallEvent, { readonly type: 'approval_supported' }>): CallStage {
  const { stage } = call
  const { id: by } = event.actor
  const { question, lapsed } = event.body
  const others = supportersOf(call, question, lapsed)
  const isAwaited = stage.at === 'doubt' || (stage.at === 'approval' && others.length + 1 < (stage.needed ?? 1))
  if (!isAwaited) throw new ImpossibleEvent(event, 'no further approval is awaited')
  if (others.some((one) => one.by === by)) throw new ImpossibleEvent(event, `${by} has approved it before`)
  const supporters = [...others, { by, question }]
  return stage.at === 'doubt' ? { ...stage, supporters, asked: stage.asked ?? call.since } : { ...stage, supporters }
}

/** Throws ImpossibleEvent unless enough other people have approved before. */
function mustBeLast({ needed = 1, supporters = [] }: Awaited, event: CallEvent): void {
  const others = supporters.filter(({ by }) => by !== event.actor.id)
  if (others.length + 1 < needed) throw new ImpossibleEvent(event, `${needed} people must approve`)
}

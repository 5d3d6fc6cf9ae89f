import { failCall } from '../../calls/decide/endings.ts'
import { beginCall, settleOpenCall } from '../../calls/decide/proceed.ts'
import type { ExternalFact } from '../commands.ts'
import type { ExternalDecisionBuilder } from '../decision-builder.ts'
import { type ExternalState, isRunOver } from '../state.ts'
import { externalPolicy } from '../tools.ts'

// Decisions on the reports of a program that hosts its agent.

type Fact<K extends ExternalFact['kind']> = Extract<ExternalFact, { kind: K }>
export type HostedFact = Fact<
  'model_asked' | 'model_ended' | 'call_begins' | 'mirrored' | 'mirror_gap' | 'transcript_deleted'
>

/** Records nothing in a run without a host. Transcripts are recorded even after the end of the run. */
export function decideHosted(d: ExternalDecisionBuilder, state: ExternalState, fact: HostedFact): void {
  const { hosted, cancelledAt } = state
  if (hosted === undefined) return
  const { kind, ...body } = fact
  switch (fact.kind) {
    case 'mirrored':
    case 'mirror_gap':
      d.emit(kind === 'mirrored' ? 'transcript_mirrored' : 'mirror_gap', body as never)
      return
    case 'transcript_deleted': {
      const { subpath } = fact
      const known = subpath === undefined ? Object.keys(hosted.transcripts).length > 0 : subpath in hosted.transcripts
      if (known) d.emit('transcript_deleted', subpath === undefined ? {} : { subpath })
      return
    }
    case 'model_asked':
      if (isRunOver(state) || cancelledAt !== null || !d.drives || fact.call !== hosted.asked) return
      d.emit('model_requested', body as never)
      return
    case 'model_ended':
      if (isRunOver(state) || !hosted.open.some(({ call }) => call === fact.call)) return
      d.emit('model_outcome', body as never)
      return endIfCancelled(d)
    case 'call_begins': {
      const call = d.calls.find(({ id }) => id === fact.toolCallId)
      if (isRunOver(state) || cancelledAt !== null || !d.drives || call === undefined) return
      const isFree = call.stage.at === 'planned' && call.refused === null
      const isAllowed = isFree ? externalPolicy.needsApproval(d.caller, call) === null : call.stage.at === 'approved'
      if (isAllowed) beginCall(d, call, null)
    }
  }
}

/**
 * The steps of calls that need no request of the program: a call that the policy asks a person about waits for that
 * person, and a call with an unknown outcome fails, as for every external agent. The program itself begins its calls.
 */
export function goOnHosted(d: ExternalDecisionBuilder): void {
  settleModelCalls(d, false)
  for (const call of d.calls) {
    if (call.stage.at === 'doubt') {
      const message = `the program ended while ${call.toolName} was at work; look whether it happened before it is done again`
      failCall(d, call, { code: 'UNKNOWN_OUTCOME', message })
    }
    if (call.stage.at !== 'planned' || call.started || call.refused !== null) continue
    const asks = externalPolicy.needsApproval(d.caller, call)
    if (asks !== null) beginCall(d, call, asks)
  }
}

/** Ends model calls whose program is gone; `all`: every open one. */
export function settleModelCalls(d: ExternalDecisionBuilder, all: boolean): void {
  for (const { call, epoch } of d.state?.hosted?.open ?? [])
    if (all || epoch !== d.state?.driver?.epoch) d.emit('model_outcome', { call, outcome: 'lost', durationMs: 0 })
}

const CANCELLED = { code: 'CANCELLED', message: 'the run was cancelled' } as const

/** Ends a cancelled run when the program has nothing at work any more; `force`: also if it has. */
export function endIfCancelled(d: ExternalDecisionBuilder, force = false): void {
  const { state } = d
  if (state?.hosted === undefined || state.cancelledAt === null || isRunOver(state)) return
  for (const call of d.calls) settleOpenCall(d, call, CANCELLED, force)
  if (force) settleModelCalls(d, true)
  if (d.calls.length === 0 && (d.state?.hosted?.open.length ?? 0) === 0)
    d.emit('external_ended', { outcome: 'cancelled', exit: null })
}

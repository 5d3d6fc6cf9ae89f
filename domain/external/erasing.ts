import { callResidues, ERASED, erasedBlock, erasedCall, erasedFailure, erasedId } from '../calls/events/residue.ts'
import type { Header } from '../log/envelope.ts'
import type { Erasing } from '../stream/aggregate.ts'
import { erasingBy } from '../stream/erasure.ts'
import { withoutText } from '../tree/erased-spec.ts'
import type { ExternalBodyOf } from './events.ts'
import type { Outcome } from './outcome.ts'
import { isName, type ReportedSpan } from './reported/span.ts'

/** The event types of keepup agents' calls. */
type OfCall =
  | 'tool_call_retry'
  | 'tool_call_unknown'
  | 'tool_call_end'
  | 'approval_requested'
  | 'approval_supported'
  | 'approval_decided'

type Said =
  | 'external_started'
  | 'agent_events'
  | 'files_versioned'
  | 'permission_requested'
  | 'permission_decided'
  | 'tool_call_requested'
  | OfCall
  | 'cancel_requested'
  | 'external_ended'
  | 'outcome_learned'
  | 'spans_reported'
  | 'model_requested'
  | 'model_outcome'
  | 'transcript_mirrored'
  | 'mirror_gap'

/** The part of each body that the fold needs after an erasure, without words of people, agents or tools. */
const RESIDUES: { readonly [T in Said]: (body: ExternalBodyOf<T>, bodyHash: string) => ExternalBodyOf<T> } = {
  external_started: ({ request: { timeoutMs, budget, price }, tools, hosting, ...body }) => ({
    ...body,
    ...(hosting !== undefined && { hosting: { policy: hosting.policy, effects: hosting.effects } }),
    ...(tools !== undefined && { tools: { spec: withoutText(tools.spec) } }),
    request: {
      prompt: ERASED,
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(budget !== undefined && { budget }),
      ...(price !== undefined && { price }),
    },
  }),
  agent_events: ({ first, events }) => ({ first, events: events.map(({ kind }) => ({ kind })) }),
  files_versioned: (body) =>
    'tree' in body ? body : { when: body.when, unversioned: erasedFailure(body.unversioned) },
  permission_requested: ({ toolCallId, toolName }) => ({ toolCallId, toolName, input: null, reason: ERASED }),
  permission_decided: ({ reason: _, ...body }) => body,
  tool_call_requested: ({ content: [block], calls: [call] }, bodyHash) => ({
    content: [erasedBlock(block, call, erasedId(bodyHash, 0))],
    calls: [erasedCall(call)],
  }),
  tool_call_retry: callResidues.tool_call_retry,
  tool_call_unknown: callResidues.tool_call_unknown,
  tool_call_end: callResidues.tool_call_end,
  approval_requested: callResidues.approval_requested,
  approval_supported: callResidues.approval_supported,
  approval_decided: callResidues.approval_decided,
  cancel_requested: ({ reason: _, ...body }) => body,
  external_ended: wordless,
  outcome_learned: wordless,
  spans_reported: ({ spans, session, ...body }) => ({
    ...body,
    ...(session !== undefined && { session: { n: session.n } }),
    spans: spans.map(wordlessSpan),
  }),
  model_requested: ({ call, key, model }) => ({
    ...{ call, key, provider: ERASED, model: isName(model) ? model : ERASED },
    request: { settings: {}, messages: [] },
  }),
  model_outcome: ({ answer: _, text: __, model, error, ...body }) => ({
    ...body,
    ...(isName(model) && { model }),
    ...(error !== undefined && { error: erasedFailure(error) }),
  }),
  transcript_mirrored: ({ subpath }) => ({ ...(subpath !== undefined && { subpath }), entries: [] }),
  mirror_gap: ({ subpath }) => (subpath === undefined ? {} : { subpath }),
}

/** The tree of spans with times and figures. A program can report any text as the name of a model, a tool or an error. */
function wordlessSpan(span: ReportedSpan): ReportedSpan {
  const { attributes: _, events: __, callId: ___, service, scope, conversation, model, tool, error, ...rest } = span
  return {
    ...{ ...rest, name: ERASED },
    ...(isName(model) && { model }),
    ...(isName(tool) && { tool }),
    ...(error !== undefined && { error: { type: isName(error.type) ? error.type : 'error' } }),
  }
}

function wordless(outcome: Outcome): Outcome {
  if (outcome.outcome === 'exited') return { ...outcome, finalText: null }
  return outcome.outcome === 'failed' ? { ...outcome, error: { ...outcome.error, message: ERASED } } : outcome
}

const ENDING: ReadonlySet<string> = new Set(['external_ended', 'spans_reported', 'transcript_deleted'])

/** Which bodies of external runs an erasure may empty, and their residues. */
export const erasing: Erasing = {
  ...erasingBy(RESIDUES),
  /**
   * Reads the headers of a stream in order and detects the end of the run. Bodies may be erased after the end, and those
   * of a reported run or a session at any time: no process of keepup works on it, and its end may never arrive.
   */
  ending() {
    let ended = false
    return {
      see({ type }: Header) {
        ended ||= ENDING.has(type)
      },
      get ended() {
        return ended
      },
    }
  },
}

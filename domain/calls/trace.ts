import type { z } from 'zod'
import type { EventPlace } from '../log/body-parts.ts'
import type { Actor } from '../log/envelope.ts'
import type { Block } from './content.ts'
import type { Decided } from './decided.ts'
import type { ArgumentsRef } from './events/event-parts.ts'
import type { CallBodies } from './events/events.ts'
import type { permissionEvents } from './events/permissions.ts'
import { callArguments } from './requested-calls.ts'
import { resultText } from './result-text.ts'
import { byteLength, headOf } from './truncate.ts'
import { originOfResult, type ResultOfTool, type TextOrigin } from './trust.ts'

// The chain of authority of a call, from its events: its effect, the person or rule that allowed it, and the author of
// the rule.

/** The most UTF-8 bytes of a text of people, models and tools in a step of a trace. */
const QUOTE_BYTES = 2_000
/** The most UTF-8 bytes of a text in the list of read texts. */
const HEAD_BYTES = 200

/** An event as a trace reads it. `erased`: the body is the residue of an erasure. */
export type Traced<Event> = Event & { readonly stream: string; readonly erased: boolean }

/** The members of every event that a trace reads. */
export interface AnyTraced {
  readonly type: string
  readonly stream: string
  readonly erased: boolean
  readonly revision: number
  readonly at: number
  readonly turn: number
  readonly actor: Actor
  readonly runId?: string | undefined
  readonly toolCallId?: string | undefined
}

/**
 * `effect`: an event that the call caused. `call`: the call began. `approval`: a person decided. `question`: the
 * question to that person. `rule`: a policy, a standing approval or a permission. `answer`: the model asked for the
 * call. `input`: the request of a person or a parent. `delegation`: another agent's call started this agent. `fork`: a
 * person continued another run's history. `start`: a person started the run. `write`: an event outside of calls.
 * `line`: a line of a file, at the event that wrote it.
 */
export const TRACE_STEPS = [
  ...(['effect', 'call', 'approval', 'question', 'rule', 'answer', 'input'] as const),
  ...(['delegation', 'fork', 'start', 'write', 'line'] as const),
] as const

/** A step from a value to the person whose authority it has, and the event that proves the step. */
export interface TraceStep {
  readonly kind: (typeof TRACE_STEPS)[number]
  /** The run that caused the event; absent: none. */
  readonly runId?: string
  readonly stream: string
  readonly revision: number
  readonly at: number
  readonly actor: Actor
  /** A sentence of keepup, with names of tools, people and streams. */
  readonly text: string
  /** The beginning of a text of a person, a model or a tool. */
  readonly quote?: string
  readonly toolCallId?: string
  readonly decided?: Decided
  readonly erased?: true
}

type Bodies = CallBodies & { readonly permission_granted: z.infer<typeof permissionEvents.permission_granted> }
type CallFactType = keyof Bodies

/** An event of a call, of any kind of agent. */
export type CallFact = {
  readonly [T in CallFactType]: AnyTraced & { readonly type: T; readonly body: Bodies[T] }
}[CallFactType]
type FactOf<T extends CallFactType> = Extract<CallFact, { readonly type: T }>

/** The types of the events of calls. */
export const CALL_FACTS: ReadonlySet<CallFactType> = new Set([
  ...(['tool_call_start', 'tool_call_end', 'late_outcome', 'tool_call_resolved', 'permission_granted'] as const),
  ...([
    'approval_requested',
    'approval_supported',
    'approval_decided',
    'approval_expired',
    'standing_approval',
  ] as const),
])

/** A text that a model had read. `stream` and `revision`: the event that contains it. */
export interface ReadText extends TextOrigin {
  readonly runId?: string
  readonly stream: string
  readonly revision: number
  readonly at: number
  readonly turn: number
  /** The tool, person or agent that it is from. */
  readonly from: string
  readonly toolCallId?: string
  /** In bytes. */
  readonly size: number
  readonly head: string
  readonly erased?: true
}

/** The chain within one agent. */
export interface AgentTrace {
  readonly steps: readonly TraceStep[]
  /** The next call or event of the chain, of another agent; null: the chain ends here. */
  readonly leadsTo: { readonly toolCallId: string } | EventPlace | null
  /** In order. */
  readonly texts: readonly ReadText[]
}

/** What to trace in the history of an agent: a call, or an event. */
export type TraceTarget = { readonly toolCallId: string } | EventPlace

/** The events around the calls of one agent. */
export interface CallHistory {
  /** In order. Those of a fork begin with its source's. */
  readonly facts: readonly CallFact[]
  /** The agent's first event, which has its policy; null: not in the history. */
  readonly birth: AnyTraced | null
  /** The block with a call's arguments. Undefined: there is none. */
  block(stream: string, ref: ArgumentsRef): Block | undefined
}

/** The beginning of a text, for a step. */
export function quoteOf(text: string, bytes = QUOTE_BYTES): string {
  const head = headOf(text, bytes)
  return head.length < text.length ? `${head}…` : head
}

/** A step at an event. A quote of an erased event is left out. */
export function stepAt(
  kind: TraceStep['kind'],
  { runId, stream, revision, at, actor, toolCallId, erased }: AnyTraced,
  text: string,
  more: { readonly quote?: string | undefined; readonly decided?: Decided | undefined } = {},
): TraceStep {
  return {
    ...{ kind, stream, revision, at, actor, text },
    ...(runId !== undefined && { runId }),
    ...(more.quote === undefined || more.quote === '' || erased ? {} : { quote: quoteOf(more.quote) }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(more.decided !== undefined && { decided: more.decided }),
    ...(erased && { erased }),
  }
}

export const readText = (
  { runId, stream, revision, at, turn, toolCallId, erased }: AnyTraced,
  origin: TextOrigin,
  from: string,
  text: string,
  size = byteLength(text),
): ReadText => ({
  ...{ stream, revision, at, turn, ...origin, from },
  ...(runId !== undefined && { runId }),
  ...(toolCallId !== undefined && { toolCallId }),
  ...{ size, head: erased ? '' : quoteOf(text, HEAD_BYTES) },
  ...(erased && { erased }),
})

/** The result of a call as a text that the model had read. */
export function resultAsRead(
  event: FactOf<'tool_call_end'>,
  around: Pick<ResultOfTool, 'untrustedBefore' | 'sandboxed'>,
): ReadText {
  const { toolName, detail, success, result, error, attachment } = event.body
  const text = success ? resultText(result ?? null) : `${error?.code}: ${error?.message}`
  return readText(event, originOfResult({ toolName, detail, ...around }), toolName, text, attachment?.size)
}

/** The name of an actor in a sentence. */
export const nameOf = ({ kind, id }: Actor): string => (kind === 'user' || kind === 'approver' ? id : `the ${kind}`)

/** The files that a call says it has written. */
export const filesOf = ({ created = [], changed = [] }: FilesWritten): readonly string[] => [
  ...new Set([...created, ...changed]),
]
type FilesWritten = {
  readonly created?: readonly string[] | undefined
  readonly changed?: readonly string[] | undefined
}

/** The step of a call's end or late outcome. */
const effectStep = (event: FactOf<'tool_call_end' | 'late_outcome'>): TraceStep => {
  const { toolName, success, error } = event.body
  const files = event.type === 'tool_call_end' ? filesOf(event.body) : []
  const reused = event.type === 'tool_call_end' ? event.body.reused : undefined
  const copied = reused === undefined ? '' : `, copied from ${reused.stream}@${reused.revision}`
  const wrote = files.length === 0 ? '' : `, wrote ${files.length === 1 ? 'a file' : `${files.length} files`}`
  const ended = success ? `${toolName} succeeded${wrote}` : `${toolName} failed: ${error?.code ?? 'unknown'}`
  return stepAt('effect', event, `${ended}${copied}`, { quote: files.join('\n') || error?.message })
}

/**
 * The steps of a call, from its effect to the rule or person that allowed it, and the event with the answer that
 * asked for it. Null: the history has no such call.
 */
export function callSteps(
  history: CallHistory,
  toolCallId: string,
): { readonly steps: readonly TraceStep[]; readonly start: FactOf<'tool_call_start'> } | null {
  const own = history.facts.filter((one) => one.toolCallId === toolCallId)
  const start = own.find((one) => one.type === 'tool_call_start')
  if (start === undefined) return null
  const steps: TraceStep[] = []
  for (const event of own.toReversed()) {
    if (event.type === 'tool_call_end' || event.type === 'late_outcome') steps.push(effectStep(event))
    if (event.type === 'tool_call_resolved')
      steps.push(
        stepAt('approval', event, `${nameOf(event.actor)} decided on the unknown outcome: ${event.body.decision}`, {
          quote: event.body.reason,
        }),
      )
  }
  const block = history.block(start.stream, start.body.argumentsRef)
  const args = block === undefined ? null : callArguments(block)
  const asked = { quote: args === null ? undefined : JSON.stringify(args) }
  steps.push(stepAt('call', start, `call of ${start.body.toolName}`, asked))
  return { steps: [...steps, ...decisionSteps(history, start)], start }
}

/** How a call was decided: by a person with the question, or by a rule with the person who gave the rule. */
function decisionSteps(history: CallHistory, start: FactOf<'tool_call_start'>): readonly TraceStep[] {
  const { toolName, decided } = start.body
  if (decided === undefined) {
    const steps = approvalSteps(history, start.toolCallId)
    return steps.length === 0 ? [] : [...steps, ...ruleOf(history, start, `a person must decide about ${toolName}`)]
  }
  const { method, rule = '' } = decided
  if (method === 'standing_approval') {
    // A fork does not inherit the standing approvals of its source.
    const given = history.facts.findLast(
      (one) =>
        one.type === 'standing_approval' &&
        one.stream === start.stream &&
        one.revision < start.revision &&
        one.body.tools.includes(rule),
    )
    const from = given?.type === 'standing_approval' ? given : start
    const by = from === start ? '' : ` of ${nameOf(from.actor)}`
    const quote = from.type === 'standing_approval' ? from.body.reason : undefined
    return [stepAt('rule', from, `standing approval${by}: ${rule}`, { decided, quote })]
  }
  if (method === 'permission') {
    const granted = history.facts.findLast((one) => one.type === 'permission_granted' && one.toolCallId === rule)
    const steps = approvalSteps(history, rule)
    if (granted?.type !== 'permission_granted') return [stepAt('rule', start, `permission of ${rule}`, { decided })]
    const { tool, scope, reason, until } = granted.body
    const text = `permission for ${tool}, for the ${scope}, until ${until}`
    return [stepAt('rule', granted, text, { decided, quote: reason }), ...steps]
  }
  return ruleOf(history, start, policyText(rule, toolName), decided)
}

const policyText = (rule: string, toolName: string): string => {
  if (rule === 'allowed') return `its policy allows ${toolName} without a question`
  return rule === 'control' ? `${toolName} is a control tool` : `its policy refuses ${toolName}: rule ${rule}`
}

/** The policy is in the agent's first event. */
const ruleOf = (
  { birth }: CallHistory,
  start: FactOf<'tool_call_start'>,
  text: string,
  decided?: Decided,
): readonly TraceStep[] => {
  const { toolCallId: _, ...at } = birth ?? start
  return [stepAt('rule', at, text, { decided })]
}

/** The last decision of a person about a call, and the question. */
function approvalSteps({ facts }: CallHistory, toolCallId: string | undefined): readonly TraceStep[] {
  const own = facts.filter((one) => one.toolCallId === toolCallId)
  const steps: TraceStep[] = []
  // A void approval does not answer the question after it.
  const asked = own.findLastIndex(({ type }) => type === 'approval_requested')
  const question = own[asked]
  const since = own.slice(Math.max(0, asked))
  const decision = since.findLast(({ type }) => type === 'approval_decided' || type === 'approval_expired')
  if (decision?.type === 'approval_decided') {
    const { decision: how, decided, reason } = decision.body
    const text = `${how} by ${nameOf(decision.actor)}${seenText(decision.body)}`
    steps.push(stepAt('approval', decision, text, { decided, quote: reason }))
  }
  if (decision?.type === 'approval_expired') steps.push(stepAt('approval', decision, 'nobody decided in time'))
  for (const one of since.toReversed())
    if (one.type === 'approval_supported') {
      const text = `approved by ${nameOf(one.actor)}, as one of several${seenText(one.body)}`
      steps.push(stepAt('approval', one, text, { decided: one.body.decided, quote: one.body.reason }))
    }
  if (question?.type === 'approval_requested') {
    const { toolName, reason, expiresAt } = question.body
    const ended = own.some(({ type }) => type === 'tool_call_end')
    const open = decision !== undefined ? '' : ended ? ', never answered' : ', open'
    steps.push(stepAt('question', question, `asked about ${toolName}, until ${expiresAt}${open}`, { quote: reason }))
  }
  return steps
}

/** What the person saw: the question, by the beginning of its hash, and the files in its preview. */
function seenText({
  decided: { shownHash },
  files = [],
}: Pick<CallBodies['approval_decided'], 'decided' | 'files'>): string {
  if (shownHash === undefined) return '; the question that was shown is not known'
  const saw = files.length === 0 ? '' : ` and ${files.length === 1 ? 'a file' : `${files.length} files`}`
  return `, who saw the question ${shownHash.slice(0, 12)}${saw}`
}

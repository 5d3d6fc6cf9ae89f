import type { Usage } from '../../../domain/calls/content.ts'
import type { Failure } from '../../../domain/calls/events/event-parts.ts'
import type { AgentEventBody } from '../../../domain/external/agent-event.ts'
import type { Outcome } from '../../../domain/external/outcome.ts'
import { asJson, type JsonObject } from '../../../domain/log/json.ts'
import type { EventView, Payload, StoredType } from '../../operations/events/schemas.ts'
import type { Paint } from './colours.ts'
import { oneLine, truncateToWidth } from './text.ts'
import { dollars } from './units.ts'

/** The kind of an event, which decides its colour on the page. */
export type Tone = 'person' | 'model' | 'tool' | 'rule' | 'end' | 'bad' | 'other'

/** The texts about the events of one type. */
export interface Words<T extends StoredType> {
  readonly tone: Tone
  /** The main part of the payload on one line. */
  line(payload: Payload<T>): string
  /** One line for a person who follows a run. Absent: the event adds nothing for them. */
  follow?(payload: Payload<T>, paint: Paint, view: Pick<EventView, 'turn' | 'toolCallId' | 'actor'>): string
  /** The equivalent events of the Universal Agent API. `payload` null: erased. Absent: there are none. */
  agentEvents?(payload: Payload<T> | null, view: Pick<EventView, 'toolCallId'>): AgentEventBody[]
}

/** A value on one line, sanitized for a terminal: anything in an event may come from a model or a tool. */
export const plain = (v: unknown): string =>
  oneLine(typeof v === 'string' ? v : v === undefined || v === null ? '' : JSON.stringify(v))

/** Joins the parts that are present: `coder, scripted:x, /folder`. */
const parts = (...all: unknown[]): string => all.map(plain).filter(Boolean).join(', ')

const failure = (error: Failure | undefined): string => `${plain(error?.code)} ${plain(error?.message)}`.trim()

/** Whether a call failed, or was a command with an exit code other than 0. */
export const isFailure = ({ toolName, success, detail }: CallEnd): boolean =>
  !success || (toolName === 'run_command' && detail?.exitCode !== undefined && detail.exitCode !== 0)
type CallEnd = Pick<Payload<'tool_call_end'>, 'toolName' | 'success' | 'detail'>

export const waitsForApproval = (toolName: string, toolCallId: string | undefined): string =>
  `  waits for approval: ${plain(toolName)} (${plain(toolCallId)})`

type Answer = Payload<'model_call_end'>

const tokensAndCost = ({ usage, nanoDollars }: Pick<Answer, 'usage' | 'nanoDollars'>): string =>
  `${usage.output} tokens, ${dollars(nanoDollars)}`

function answered({ content, ...answer }: Answer): string {
  const said = content.map(({ type, text, name }) => (type === 'text' ? text : type === 'tool_use' ? `→ ${name}` : ''))
  return `${tokensAndCost(answer)}: ${plain(said.filter(Boolean).join(' '))}`
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

function agentEvent(block: JsonObject): AgentEventBody[] {
  if (block.type === 'text' && text(block.text) !== '') return [{ kind: 'TextOutput', text: text(block.text) }]
  if (block.type !== 'thinking') return []
  return [{ kind: 'Status', channel: 'thinking', text: text(block.thinking ?? block.text) }]
}

/** All input tokens, cached or not. Not imported, because the page would then load zod. */
const inputOf = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite

/** A finished command is a success of the call, whatever its exit code. The exit code decides the sign. */
function ended(p: Payload<'tool_call_end'>, paint: Paint): string {
  const { toolName, success, error, detail, durationMs } = p
  const sign = isFailure(p) ? paint('red', '✗') : paint('green', '✓')
  if (!success)
    return `  ${sign} ${plain(toolName)} ${plain(error?.code)}: ${truncateToWidth(plain(error?.message), 160)}`
  const exit = toolName === 'run_command' && detail?.exitCode !== undefined ? ` ${exitText(p)}` : ''
  return `  ${sign} ${plain(toolName)}${exit} ${paint('dim', `${durationMs} ms`)}`
}

function exitText({ detail, result }: Payload<'tool_call_end'>): string {
  if (detail?.exitCode !== null) return `exit ${plain(detail?.exitCode)}`
  const { signal } = (result ?? {}) as { signal?: unknown }
  return `ended by ${plain(signal)}`
}

/** The names of the secrets that a call receives. */
const secretsOf = ({ secrets = [] }: Payload<'tool_call_start'>): string =>
  secrets.length === 0 ? '' : ` (secret ${secrets.map(({ name }) => plain(name)).join(', ')})`

function revisions(bodies: readonly { readonly revision: number }[]): string {
  const [first, last] = [plain(bodies[0]?.revision), plain(bodies.at(-1)?.revision)]
  return bodies.length === 1 ? `revision ${first}` : `${bodies.length} revisions, ${first} to ${last}`
}

const turnsOf = ({ turns }: Payload<'context_expanded'>): string =>
  turns === undefined
    ? 'all hidden turns'
    : turns.from === turns.to
      ? `turn ${turns.from}`
      : `turns ${turns.from} to ${turns.to}`

type Recovery = Payload<'recovery'>
const reasonOf = (p: Recovery): string | undefined => (p.phase === 'succeeded' ? undefined : p.reason)

const RAISE: Readonly<Record<Extract<Recovery, { phase: 'final_warning' }>['reason'], string>> = {
  turns: 'raise --max-turns, or lower --grace-turns',
  wall_clock: 'raise --wall-clock',
  budget: 'raise the budget',
}

/** If the final warning comes in the first turn, no turn was left for the work itself. */
function recovering(p: Recovery, turn: number): string {
  if (p.phase !== 'final_warning') return `recovery: ${plain(reasonOf(p) ?? p.phase)}`
  const line = `recovery: final_warning ${plain(p.reason)}`
  if (turn !== 1) return line
  const limit = p.reason === 'turns' ? ` (${p.maxTurns} turns: the warning's, and ${p.graceTurns} after it)` : ''
  return `${line}: no turn is left for the work itself${limit}; ${RAISE[p.reason]}`
}

const again = (delayMs: number | undefined): string => (delayMs === undefined ? '' : `; again in ${delayMs} ms`)

function errorLine({ recoverable, code, error, delayMs, outage }: Payload<'error'>, paint: Paint): string {
  const waits = outage === true ? '; the run waits for its model' : ''
  if (recoverable)
    return paint('yellow', `  the model's attempt failed: ${plain(code)} ${plain(error)}${again(delayMs)}${waits}`)
  if (code === 'CANCELLED') return paint('yellow', `the run was cancelled: ${plain(error)}`)
  return paint('red', `ERROR ${plain(code)}: ${plain(error)}`)
}

const holds = ({ passed }: Payload<'gate_checked'>): string => (passed ? 'holds' : 'does not hold')

/** A batch of an external agent: the number of events, and their text. */
function batch({ events }: Payload<'agent_events'>): string {
  const said = events.map(({ kind, text, message }) => (kind === 'TextOutput' ? text : `[${kind}] ${message ?? ''}`))
  return `${events.length}: ${plain(said.join(' '))}`
}

function processStart({ epoch, confinement }: Payload<'process_start'>): string {
  const how = confinement && (confinement.confined ? 'confined' : `unconfined: ${plain(confinement.reason)}`)
  return parts(`epoch ${epoch}`, how)
}

function outcome(end: Outcome): string {
  const status = end.outcome === 'unknown' ? null : (end.exit?.code ?? end.exit?.signal ?? null)
  const exit = status === null ? '' : `exit ${plain(status)}`
  switch (end.outcome) {
    case 'exited':
      return parts(end.outcome, exit, end.finalText)
    case 'failed':
      return parts(end.outcome, exit, end.error.message)
    case 'cancelled':
      return parts(end.outcome, exit)
    case 'unknown':
      return parts(end.outcome, end.reason)
  }
}

/** A span that a program reported: whether it failed, its name, duration and tokens. */
export function spanLine({ name, error, startUs, endUs, usage }: Payload<'spans_reported'>['spans'][number]): string {
  const sign = endUs === undefined ? '…' : error === undefined ? '✓' : '✗'
  const tokens = usage && `${usage.input ?? '?'} tokens in, ${usage.output ?? '?'} out`
  const took = endUs === undefined ? undefined : `${Math.round((endUs - startUs) / 1_000)} ms`
  return `${sign} ${parts(plain(name), took, tokens, error && plain(error.message ?? error.type))}`
}

/** The outcome of a model call of a hosted agent. */
export function modelOutcome(p: Payload<'model_outcome'>): string {
  const tokens = p.usage && `${inputOf(p.usage)} tokens in, ${p.usage.output} out`
  const spent = p.nanoDollars === undefined ? undefined : dollars(p.nanoDollars)
  return parts(p.outcome, p.text && plain(p.text), p.error && plain(p.error.message), tokens, spent)
}

/** Agents and external agents have an event of this name: a report to the parent, and the usage of a run. */
function used(p: Payload<'usage_reported'>): string {
  if (!('report' in p)) return `${p.inputTokens ?? '?'} tokens in, ${p.outputTokens ?? '?'} out`
  const { input, output, nanoDollars } = p.report.spent
  return `${input} tokens in, ${output} out, ${dollars(nanoDollars)}`
}

const json = plain

/** The texts of every type of event. A new type does not compile without an entry here. */
export const WORDS: { readonly [T in StoredType]: Words<T> } = {
  log_key_created: { tone: 'other', line: (p) => parts(plain(p.origin), p.reason) },
  log_key_rotated: { tone: 'person', line: (p) => plain(p.origin) },
  anchor_added: { tone: 'person', line: (p) => parts(p.anchor, p.kind, plain(p.target)) },
  anchor_removed: { tone: 'person', line: (p) => p.anchor },
  anchor_made: { tone: 'other', line: (p) => parts(p.anchor, `${p.size} events`) },
  witness_key_created: { tone: 'other', line: (p) => plain(p.vkey) },
  witness_log_added: { tone: 'person', line: (p) => plain(p.origin) },
  witness_log_removed: { tone: 'person', line: (p) => plain(p.origin) },
  checkpoint_cosigned: { tone: 'other', line: (p) => parts(plain(p.origin), `${p.size} events`) },
  access_begun: { tone: 'end', line: () => '' },
  roles_changed: { tone: 'other', line: (p) => Object.keys(p.roles).join(' ') },
  principal_added: { tone: 'person', line: (p) => parts(p.principal, p.kind, plain(p.name)) },
  principal_removed: { tone: 'person', line: (p) => parts(p.principal, p.reason) },
  role_granted: { tone: 'person', line: (p) => parts(p.principal, p.role) },
  role_taken: { tone: 'person', line: (p) => parts(p.principal, p.role) },
  principals_linked: { tone: 'person', line: (p) => parts(p.principal, p.other, p.reason) },
  principals_unlinked: { tone: 'person', line: (p) => parts(p.principal, p.other, p.reason) },
  key_created: { tone: 'person', line: (p) => parts(p.key, p.principal, p.expiresAt) },
  key_revoked: { tone: 'person', line: (p) => parts(p.key, p.reason) },
  roles_claimed: { tone: 'other', line: (p) => parts(p.principal, p.roles.join(' ') || 'no role', plain(p.issuer)) },
  rules_changed: { tone: 'person', line: (p) => `separation ${p.separation ? 'on' : 'off'}` },
  approvers_changed: {
    tone: 'person',
    line: (p) => parts(...p.approvers.map(({ count, tools }) => `${count} for ${tools.join(' ')}`)),
  },
  read_audited: { tone: 'other', line: (p) => parts(p.principal, `${p.count} × ${p.operation}`, p.run) },
  request_refused: { tone: 'other', line: (p) => parts(p.principal, `${p.count} × ${p.operation}`, p.code, p.run) },
  operation_requested: { tone: 'other', line: (p) => parts(p.principal, p.operation, p.target) },
  key_used: { tone: 'other', line: (p) => p.key },
  retention_set: { tone: 'person', line: (p) => parts(p.of, p.days === null ? 'for ever' : `${p.days} days`) },
  hold_set: { tone: 'person', line: (p) => parts(p.hold, p.of, plain(p.reason)) },
  hold_lifted: { tone: 'person', line: (p) => parts(p.hold, p.reason) },
  login_failed: { tone: 'other', line: (p) => parts(`${p.count} ×`, p.reason, p.key, p.address) },
  signed_in: { tone: 'other', line: (p) => parts(p.principal, p.key, p.address) },
  signed_out: { tone: 'other', line: (p) => parts(p.principal, p.key, p.address) },
  key_used_first_from: { tone: 'other', line: (p) => parts(p.key, p.address) },
  agent_started: {
    tone: 'end',
    line: ({ spec }) => parts(spec.role?.name, spec.models.requested, spec.workspace?.path),
    agentEvents: () => [{ kind: 'Status', message: 'session started' }],
  },
  forked: {
    tone: 'end',
    line: (p) => parts(`from ${plain(p.stream)}@${p.revision}`, p.workspace?.path),
  },
  driver_claimed: { tone: 'other', line: (p) => `epoch ${p.epoch}` },
  user_input: { tone: 'person', line: (p) => plain(p.text) },
  turn_start: {
    tone: 'end',
    line: ({ unread }) => (unread === 0 ? '' : `reads ${unread === 1 ? 'an input' : `${unread} inputs`}`),
    follow: (_, paint, { turn }) => paint('dim', `turn ${turn}`),
  },
  turn_end: {
    tone: 'end',
    line: (p) => `step ${p.step}, ${plain(p.outcome)}`,
  },
  prompt_set: { tone: 'rule', line: (p) => plain(p.system) },
  tools_changed: { tone: 'rule', line: (p) => `${p.offered.length} offered: ${p.offered.map(plain).join(', ')}` },
  step_requested: { tone: 'other', line: json },
  request_noted: { tone: 'other', line: json },

  model_routed: { tone: 'model', line: (p) => `${plain(p.resolved)}: ${plain(p.reason)}` },
  model_call_start: { tone: 'model', line: (p) => `${plain(p.model)}, attempt ${p.attempt}` },
  model_call_end: {
    tone: 'model',
    line: answered,
    follow: ({ servedBy, usage, nanoDollars, reused, cached }, paint) => {
      const stored = reused ? ', from the record' : cached ? ', from the request cache' : ''
      const tokens = `${inputOf(usage)} in, ${usage.output} out`
      return paint('dim', `  ${plain(servedBy)}: ${tokens}, ${dollars(nanoDollars)}${stored}`)
    },
    agentEvents: (p) => p?.content.flatMap(agentEvent) ?? [],
  },
  model_held: {
    tone: 'model',
    line: (p) => `attempt ${p.attempt} is held back by the provider's rate limit for ${p.delayMs} ms`,
    follow: (p, paint) => paint('yellow', `  the provider's rate limit holds the call back${again(p.delayMs)}`),
  },
  model_attempt_lost: { tone: 'bad', line: json },
  model_late: { tone: 'model', line: (p) => `attempt ${p.attempt}, ${tokensAndCost(p)}` },
  reuse_ended: {
    tone: 'other',
    line: ({ reason, differs }) =>
      `leaves the record: ${plain(reason)}${differs.length > 0 ? ` (${differs.map(plain).join(', ')})` : ''}`,
    follow: (p, paint) => paint('yellow', `  leaves the record: ${plain(p.reason)}`),
  },

  tool_call_requested: { tone: 'tool', line: (p) => plain(p.content[0].name) },
  tool_call_start: {
    tone: 'tool',
    line: (p) => `${plain(p.toolName)}${secretsOf(p)} ${plain(p.arguments)}`,
    follow: (p, paint) =>
      `  ${paint('cyan', plain(p.toolName))} ${paint('dim', truncateToWidth(plain(p.arguments), 100))}`,
    agentEvents: (p, { toolCallId = '' }) => [
      { kind: 'ToolCall', data: { id: toolCallId, name: p?.toolName ?? '', input: p?.arguments ?? null } },
    ],
  },
  tool_call_intent: { tone: 'tool', line: (p) => `attempt ${p.attempt}` },
  tool_call_retry: {
    tone: 'bad',
    line: (p) => `in ${p.delayMs} ms after ${failure(p.error)}`,
    follow: ({ delayMs, error }, paint) =>
      paint('yellow', `  again in ${delayMs} ms: ${plain(error.code)} ${truncateToWidth(plain(error.message), 120)}`),
  },
  tool_call_unknown: {
    tone: 'bad',
    line: (p) => plain(p.reason),
    follow: (p, paint, { toolCallId }) =>
      paint('yellow', `  it is unknown whether ${plain(toolCallId)} happened: ${plain(p.reason)}`),
  },
  tool_call_resolved: { tone: 'person', line: (p) => parts(p.decision, p.reason) },
  tool_call_end: {
    tone: 'tool',
    line: (p) => `${plain(p.toolName)} ${isFailure(p) ? '✗' : '✓'} ${p.success ? plain(p.result) : failure(p.error)}`,
    follow: ended,
    agentEvents: (p, { toolCallId = '' }) => [
      {
        kind: 'ToolResult',
        data: {
          id: toolCallId,
          success: p?.success === true,
          output: p?.result ?? (p?.error ? asJson(p.error) : null),
        },
      },
    ],
  },
  late_outcome: { tone: 'tool', line: json },

  approval_requested: {
    tone: 'rule',
    line: (p) => `${plain(p.toolName)}: ${plain(p.reason)}`,
    follow: (p, paint, { toolCallId }) => paint('yellow', waitsForApproval(p.toolName, toolCallId)),
    agentEvents: (_, { toolCallId = '' }) => [
      { kind: 'Status', message: 'waits for approval', data: { id: toolCallId } },
    ],
  },
  approval_supported: {
    tone: 'person',
    line: (p) => parts('approved, as one of several', p.reason),
    follow: (_, paint, { actor }) => paint('dim', `  approved by ${plain(actor.id)}; others must approve too`),
  },
  approval_decided: {
    tone: 'person',
    line: (p) => parts(p.decision, p.reason),
    follow: (p, paint, { actor }) => paint('dim', `  ${plain(p.decision)} by ${plain(actor.id)}`),
  },
  approval_expired: { tone: 'rule', line: () => '' },
  approval_voided: { tone: 'rule', line: (p) => plain(p.reason) },
  standing_approval: { tone: 'person', line: (p) => parts(p.tools.join(', '), p.reason) },
  permission_requested: { tone: 'rule', line: json },
  permission_decided: { tone: 'person', line: json },
  permission_granted: {
    tone: 'rule',
    line: (p) => parts(`${plain(p.tool)} (${p.scope}, until ${p.until})`, p.reason),
  },
  permission_ended: { tone: 'rule', line: (p) => `${plain(p.permission)}: ${p.why}` },
  permission_revoked: { tone: 'rule', line: (p) => parts(p.permission, p.reason) },

  phase_advanced: {
    tone: 'rule',
    line: (p) => `${plain(p.from)} → ${plain(p.to)}: ${plain(p.summary)}`,
    follow: (p, paint) => paint('bold', `phase ${plain(p.to)}`),
  },
  gate_checked: {
    tone: 'rule',
    line: (p) => `${plain(p.gate)} ${holds(p)}: ${plain(p.evidence)}`,
    follow: (p, paint) =>
      `  gate ${plain(p.gate)}: ${paint(p.passed ? 'green' : 'red', holds(p))} ${plain(p.evidence)}`,
  },
  recovery: {
    tone: 'rule',
    line: (p) => parts(p.phase, reasonOf(p)),
    follow: (p, paint, { turn }) => paint('yellow', recovering(p, turn)),
  },
  completion: {
    tone: 'end',
    line: (p) => plain(p.summary),
    follow: (_, paint) => paint('green', 'DONE'),
    agentEvents: () => [{ kind: 'Status', message: 'done' }],
  },
  error: {
    tone: 'bad',
    line: (p) => `${plain(p.code)}: ${plain(p.error)}`,
    follow: errorLine,
    agentEvents: (p) => [
      { kind: p?.recoverable === true ? 'Status' : 'Error', message: `${p?.code ?? ''}: ${p?.error ?? ''}` },
    ],
  },
  paused: { tone: 'person', line: (p) => plain(p.reason), follow: (_, paint) => paint('dim', 'paused') },
  resumed: { tone: 'person', line: () => '' },
  cancel_requested: { tone: 'person', line: (p) => plain(p.reason) },

  context_set: { tone: 'tool', line: (p) => `${plain(p.key)} = ${plain(p.value)}` },
  context_compressed: {
    tone: 'other',
    line: ({ strategy, tokens: { before, after, limit } }) =>
      `${plain(strategy)}, about ${before} → ${after} of ${limit} tokens`,
  },
  context_expanded: { tone: 'other', line: turnsOf },
  summary_failed: {
    tone: 'other',
    line: (p) => `attempt ${p.attempt}: ${failure(p.error)}`,
  },
  knowledge_added: { tone: 'other', line: (p) => p.items.map(({ source }) => plain(source.name)).join(', ') },
  artifact_registered: { tone: 'tool', line: json },
  tasks_updated: {
    tone: 'other',
    line: ({ set, removed }) => [...set.map(({ id, status }) => `${id} ${status}`), ...removed].join(', '),
  },
  workspace_versioned: {
    tone: 'tool',
    line: (p) => ('tree' in p ? `tree ${plain(p.tree)}` : failure(p.unversioned)),
  },
  workspace_drifted: {
    tone: 'tool',
    line: (p) => plain(p.changed.join(', ')),
    follow: (p, paint) => paint('yellow', `files changed since the last step: ${p.changed.map(oneLine).join(', ')}`),
  },
  restore_requested: {
    tone: 'other',
    line: (p) => parts(p.step === undefined ? `tree ${plain(p.tree)}` : `step ${p.step}`, p.reason),
  },
  restore_ended: { tone: 'other', line: (p) => (p.error ? failure(p.error) : plain(p.outcome)) },

  loss_accepted: { tone: 'bad', line: (p) => parts(`${p.calls.length} calls in the lost part`, p.reason) },
  lost_call_decided: { tone: 'other', line: (p) => parts(p.decision, p.reason) },
  loss_released: { tone: 'bad', line: (p) => plain(p.reason) },

  child_delegated: { tone: 'other', line: (p) => `${plain(p.childId)}, ${plain(p.role)}: ${plain(p.task)}` },
  child_ended: { tone: 'other', line: (p) => parts(p.childId, p.status, p.code) },
  child_unreached: { tone: 'other', line: (p) => `${plain(p.childId)}: ${plain(p.reason)}` },
  child_usage: { tone: 'other', line: json },
  child_artifact: { tone: 'other', line: json },
  child_requested_budget: { tone: 'other', line: json },
  end_reported: { tone: 'other', line: (p) => parts(p.status, p.code, p.message) },
  usage_reported: { tone: 'other', line: used },
  budget_requested: { tone: 'other', line: json },
  budget_granted: { tone: 'other', line: json },
  budget_received: { tone: 'other', line: json },
  cancel_forwarded: { tone: 'person', line: json },
  pause_forwarded: { tone: 'other', line: json },
  resume_forwarded: { tone: 'other', line: json },
  delivered: { tone: 'other', line: json },
  message_sent: { tone: 'other', line: json },
  message_received: { tone: 'other', line: json },
  message_bounced: { tone: 'other', line: json },
  message_published: { tone: 'other', line: json },
  message_distributed: { tone: 'other', line: json },
  topic_subscribed: { tone: 'other', line: json },
  subscription_added: { tone: 'other', line: json },

  external_started: { tone: 'end', line: (p) => parts(p.backend, p.request.prompt) },
  process_start: { tone: 'other', line: processStart },
  agent_events: { tone: 'model', line: batch },
  session_known: { tone: 'other', line: (p) => plain(p.sessionId) },
  files_versioned: {
    tone: 'other',
    line: (p) => ('tree' in p ? `tree ${plain(p.tree)}` : failure(p.unversioned)),
  },
  external_ended: { tone: 'end', line: outcome },
  outcome_learned: { tone: 'other', line: outcome },
  spans_reported: { tone: 'model', line: ({ spans }) => `${spans.length}: ${spans.map(spanLine).join('; ')}` },
  model_requested: { tone: 'model', line: (p) => `${plain(p.model)}, call ${p.call}` },
  model_outcome: { tone: 'model', line: modelOutcome },
  transcript_mirrored: {
    tone: 'model',
    line: ({ subpath, entries }) => parts(subpath && plain(subpath), `${entries.length} entries`),
  },
  mirror_gap: {
    tone: 'bad',
    line: ({ after, error }) => parts('entries are missing', after && `after ${plain(after)}`, error && plain(error)),
  },
  transcript_deleted: { tone: 'other', line: ({ subpath }) => plain(subpath ?? 'the whole session') },

  document_created: { tone: 'other', line: json },
  document_updated: { tone: 'other', line: json },
  person_updated: { tone: 'other', line: json },
  envelope_received: { tone: 'other', line: json },
  envelope_refused: { tone: 'other', line: json },
  comment_added: { tone: 'person', line: (p) => parts(p.anchor.quote ?? '', p.text ?? '') },
  suggestion_made: { tone: 'person', line: (p) => parts(p.anchor.quote ?? '', p.replacement ?? '') },
  reply_added: { tone: 'person', line: (p) => plain(p.text ?? '') },
  comment_resolved: { tone: 'person', line: (p) => plain(p.comment) },
  suggestion_accepted: { tone: 'person', line: (p) => plain(p.suggestion) },
  suggestion_refused: { tone: 'person', line: (p) => parts(p.suggestion, p.reason ?? '') },
  fact_remembered: { tone: 'other', line: json },
  fact_corrected: { tone: 'other', line: json },
  fact_forgotten: { tone: 'other', line: json },
  variable_set: { tone: 'other', line: json },
  variable_deleted: { tone: 'other', line: json },
  thread_opened: { tone: 'other', line: (p) => plain(p.thread) },
  checkpoint_saved: { tone: 'other', line: (p) => parts(p.id, `${p.values.length} values`) },
  writes_saved: { tone: 'other', line: (p) => parts(plain(p.task), `${p.writes.length} writes`) },
  thread_deleted: { tone: 'other', line: () => '' },
  tag_added: { tone: 'person', line: (p) => plain(p.tag) },
  tag_removed: { tone: 'person', line: (p) => `added at revision ${p.added}` },
  note_added: { tone: 'person', line: (p) => plain(p.text) },
  note_removed: { tone: 'person', line: (p) => `added at revision ${p.added}` },

  residue: { tone: 'other', line: (p) => revisions(p.bodies) },
  erased: { tone: 'other', line: (p) => `${revisions(p.bodies)}: ${plain(p.reason)}` },
  key_claimed: { tone: 'other', line: json },
  log_created: { tone: 'other', line: json },
  log_loss_accepted: { tone: 'other', line: json },
}

const all = new Map<string, Words<StoredType>>(Object.entries(WORDS))

/** The texts for a type of event. Undefined: this program does not know the type. Pass only payloads of that type. */
export const wordsFor = (type: string): Words<StoredType> | undefined => all.get(type)

import type { EventView } from '../../operations/events/schemas.ts'
import { cut, oneLine } from './text.ts'
import { dollars } from './units.ts'

const WIDTH = 140

/** A value of an event as one line, sanitized for a terminal. */
export const plain = (v: unknown): string =>
  oneLine(typeof v === 'string' ? v : v === undefined || v === null ? '' : JSON.stringify(v))

type Payload = Readonly<Record<string, unknown>>
const failureOf = (p: Payload): string => {
  const { code, message } = (p.error ?? {}) as { code?: string; message?: string }
  return `${plain(code)} ${plain(message)}`.trim()
}

/** Whether the payload is the end of a failed call, or of a command with an exit code other than 0. */
export function isFailure({ toolName, success, detail }: Payload): boolean {
  const { exitCode = 0 } = (toolName === 'run_command' ? (detail ?? {}) : {}) as { exitCode?: unknown }
  return success !== true || exitCode !== 0
}

/** Joins the parts that are present: `coder, scripted:x, /folder`. */
const parts = (...all: unknown[]): string => all.map(plain).filter(Boolean).join(', ')

function started(p: Payload): string {
  const spec = (p.spec ?? {}) as { role?: { name?: string }; models?: Payload; workspace?: { path?: string } }
  return parts(spec.role?.name, spec.models?.requested, spec.workspace?.path)
}

function answered(p: Payload): string {
  const content = (Array.isArray(p.content) ? p.content : []) as { type?: string; text?: string; name?: string }[]
  const said = content
    .map((b) => (b.type === 'text' ? b.text : b.type === 'tool_use' ? `→ ${b.name}` : ''))
    .filter(Boolean)
  return `${tokensAndCost(p)}: ${plain(said.join(' '))}`
}

function tokensAndCost(p: Payload): string {
  const usage = (p.usage ?? {}) as Record<string, number>
  const cost = typeof p.nanoDollars === 'number' ? dollars(p.nanoDollars) : '?'
  return `${usage.output ?? 0} tokens, ${cost}`
}

function revisions(bodies: unknown): string {
  const all = (Array.isArray(bodies) ? bodies : []) as { revision?: number }[]
  const [first, last] = [plain(all[0]?.revision), plain(all.at(-1)?.revision)]
  return all.length === 1 ? `revision ${first}` : `${all.length} revisions, ${first} to ${last}`
}

/** The names of the secrets that a call receives. */
function secretsOf({ secrets }: Payload): string {
  const given = (Array.isArray(secrets) ? secrets : []) as { name?: string }[]
  return given.length === 0 ? '' : ` (secret ${given.map(({ name }) => plain(name)).join(', ')})`
}

const turnsOf = (turns: unknown): string => {
  const { from, to } = (turns ?? {}) as { from?: number; to?: number }
  return from === undefined ? 'all hidden turns' : from === to ? `turn ${from}` : `turns ${from} to ${to}`
}

function compressed(p: Payload): string {
  const { before, after, limit } = (p.tokens ?? {}) as Record<string, number>
  return `${plain(p.strategy)}, about ${before} → ${after} of ${limit} tokens`
}

const sources = (items: unknown): string =>
  ((Array.isArray(items) ? items : []) as { source?: { name?: string } }[])
    .map(({ source }) => plain(source?.name))
    .join(', ')

/** A batch of an external agent: the number of events, and their text. */
function agentEvents(p: Payload): string {
  const events = (Array.isArray(p.events) ? p.events : []) as { kind?: string; text?: string; message?: string }[]
  const said = events.map(({ kind, text, message }) => (kind === 'TextOutput' ? text : `[${kind}] ${message ?? ''}`))
  return `${events.length}: ${plain(said.join(' '))}`
}

function outcome(p: Payload): string {
  const { code, signal } = (p.exit ?? {}) as { code?: number | null; signal?: string | null }
  const exit = p.exit ? `exit ${plain(code ?? signal)}` : ''
  return parts(p.outcome, exit, p.finalText ?? (p.error as Payload | undefined)?.message ?? p.reason)
}

/** Two kinds of streams have an event of this name: a child's report to its parent, and an external agent's usage. */
function used(p: Payload): string {
  const { spent } = (p.report ?? {}) as { spent?: Record<string, number> }
  if (spent === undefined) return `${plain(p.inputTokens ?? '?')} tokens in, ${plain(p.outputTokens ?? '?')} out`
  return `${spent.input} tokens in, ${spent.output} out, ${dollars(spent.nanoDollars ?? null)}`
}

/** The tools that the model may use from here on. */
function offered(p: Payload): string {
  const names = (Array.isArray(p.offered) ? p.offered : []).map(plain)
  return `${names.length} offered: ${names.join(', ')}`
}

const differing = (members: unknown): string =>
  Array.isArray(members) && members.length > 0 ? ` (${members.map(plain).join(', ')})` : ''

function processStart({ epoch, confinement }: Payload): string {
  const { confined, reason } = (confinement ?? {}) as { confined?: boolean; reason?: string }
  const how = confined === undefined ? '' : confined ? 'confined' : `unconfined: ${plain(reason)}`
  return parts(`epoch ${plain(epoch)}`, how)
}

/** The most important part of each type's payload. Types without an entry are shown as JSON. */
const SUBSTANCE: Readonly<Record<string, (p: Payload) => string>> = {
  agent_started: started,
  forked: (p) => parts(`from ${plain(p.stream)}@${plain(p.revision)}`, (p.workspace as Payload | null)?.path),
  driver_claimed: (p) => `epoch ${plain(p.epoch)}`,
  user_input: (p) => plain(p.text),
  turn_start: (p) => (p.unread ? `reads ${p.unread === 1 ? 'an input' : `${plain(p.unread)} inputs`}` : ''),
  model_routed: (p) => `${plain(p.resolved)}: ${plain(p.reason)}`,
  prompt_set: (p) => plain(p.system),
  tools_changed: offered,
  model_call_start: (p) => `${plain(p.model)}, attempt ${plain(p.attempt)}`,
  model_call_end: answered,
  reuse_ended: (p) => `leaves the record: ${plain(p.reason)}${differing(p.differs)}`,
  model_held: (p) => `attempt ${plain(p.attempt)} is held back by the provider's rate limit for ${plain(p.delayMs)} ms`,
  model_late: (p) => `attempt ${plain(p.attempt)}, ${tokensAndCost(p)}`,
  tool_call_requested: (p) => plain(((p.content as { name?: string }[] | undefined) ?? [])[0]?.name),
  tool_call_start: (p) => `${plain(p.toolName)}${secretsOf(p)} ${plain(p.arguments)}`,
  tool_call_intent: (p) => `attempt ${plain(p.attempt)}`,
  tool_call_retry: (p) => `in ${plain(p.delayMs)} ms after ${failureOf(p)}`,
  tool_call_unknown: (p) => plain(p.reason),
  tool_call_resolved: (p) => parts(p.decision, p.reason),
  loss_accepted: (p) => parts(`${(p.calls as unknown[] | undefined)?.length ?? 0} calls in the lost part`, p.reason),
  lost_call_decided: (p) => parts(p.decision, p.reason),
  loss_released: (p) => plain(p.reason),
  tool_call_end: (p) =>
    `${plain(p.toolName)} ${isFailure(p) ? '✗' : '✓'} ${p.success === true ? plain(p.result) : failureOf(p)}`,
  workspace_versioned: (p) => (p.tree ? `tree ${plain(p.tree)}` : failureOf({ error: p.unversioned })),
  turn_end: (p) => `step ${plain(p.step)}, ${plain(p.outcome)}`,
  approval_requested: (p) => `${plain(p.toolName)}: ${plain(p.reason)}`,
  approval_decided: (p) => parts(p.decision, p.reason),
  approval_expired: () => '',
  approval_voided: (p) => plain(p.reason),
  standing_approval: (p) => parts((p.tools as string[] | undefined)?.join(', '), p.reason),
  permission_granted: (p) => parts(`${plain(p.tool)} (${plain(p.scope)}, until ${plain(p.until)})`, p.reason),
  restore_requested: (p) => parts(p.step === undefined ? `tree ${plain(p.tree)}` : `step ${plain(p.step)}`, p.reason),
  restore_ended: (p) => (p.error ? failureOf(p) : plain(p.outcome)),
  tasks_updated: (p) =>
    [(p.set as { id: string; status: string }[] | undefined)?.map(({ id, status }) => `${id} ${status}`), p.removed]
      .flat()
      .filter(Boolean)
      .join(', '),
  permission_ended: (p) => `${plain(p.permission)}: ${plain(p.why)}`,
  permission_revoked: (p) => parts(p.permission, p.reason),
  context_compressed: compressed,
  context_expanded: (p) => turnsOf(p.turns),
  summary_failed: (p) => `attempt ${plain(p.attempt)}: ${failureOf(p)}`,
  knowledge_added: (p) => sources(p.items),
  context_set: (p) => `${plain(p.key)} = ${plain(p.value)}`,
  gate_checked: (p) => `${plain(p.gate)} ${p.passed === true ? 'holds' : 'does not hold'}: ${plain(p.evidence)}`,
  child_delegated: (p) => `${plain(p.childId)}, ${plain(p.role)}: ${plain(p.task)}`,
  child_ended: (p) => parts(p.childId, p.status, p.code),
  child_unreached: (p) => `${plain(p.childId)}: ${plain(p.reason)}`,
  end_reported: (p) => parts(p.status, p.code, p.message),
  phase_advanced: (p) => `${plain(p.from)} → ${plain(p.to)}: ${plain(p.summary)}`,
  recovery: (p) => parts(p.phase, p.reason),
  completion: (p) => plain(p.summary),
  error: (p) => `${plain(p.code)}: ${plain(p.error)}`,
  paused: (p) => plain(p.reason),
  resumed: () => '',
  cancel_requested: (p) => plain(p.reason),
  workspace_drifted: (p) => plain((p.changed as string[] | undefined)?.join(', ')),
  process_start: processStart,
  external_started: (p) => parts(p.backend, (p.request as Payload | undefined)?.prompt),
  agent_events: agentEvents,
  session_known: (p) => plain(p.sessionId),
  usage_reported: used,
  external_ended: outcome,
  outcome_learned: outcome,
  residue: (p) => revisions(p.bodies),
  erased: (p) => `${revisions(p.bodies)}: ${plain(p.reason)}`,
}

/** Replaces the body of an event whose stored body does not match its hash. */
export const ALTERED = '(altered: the stored body is not the one that was sealed)'

/** The main content of an event on one line, with the name of the person who caused it. An erased body says so. */
export function substance(event: EventView): string {
  if (event.altered) return ALTERED
  const { kind, id } = event.actor as { kind: string; id?: string }
  const who = kind === 'user' || kind === 'approver' ? `by ${plain(id)}` : ''
  const { payload } = event
  const said = payload === null ? '(erased)' : (SUBSTANCE[event.type]?.(payload) ?? plain(payload))
  return cut([who, said].filter(Boolean).join(': '), WIDTH)
}

/**
 * An event on one line: place, time, turn, type and main content. `run`: name the run, for a list over several runs.
 */
export function eventRow(event: EventView, run: boolean): string {
  const agent = event.stream.replace(/^(?:agent|external)-/, '')
  const place = run || agent !== event.runId ? `${agent}@${event.revision}` : `@${event.revision}`
  const turn = event.turn === 0 ? '' : `turn ${event.turn}`
  const columns = [oneLine(place).padEnd(5), event.timestamp.slice(11, 19), turn.padEnd(8), event.type.padEnd(18)]
  return `${columns.join('  ')}  ${substance(event)}`.trimEnd()
}

/**
 * Returns the day of an event if it differs from the previous event's day, for the first event from `today`; otherwise
 * null. Days are UTC.
 */
export function days(today = new Date().toISOString()): (event: Pick<EventView, 'timestamp'>) => string | null {
  let last = today.slice(0, 10)
  return ({ timestamp }) => {
    const day = timestamp.slice(0, 10)
    if (day === last) return null
    last = day
    return day
  }
}

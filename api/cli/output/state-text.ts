import { taskProgress } from '../../../domain/agent/tasks/state.ts'
import type { Message } from '../../../domain/calls/content.ts'
import { requestedCalls, textOf } from '../../../domain/calls/requested-calls.ts'
import type { RecordedPoint } from '../../operations/external/recorded-point.ts'
import type { AgentPoint } from '../../operations/history/point.ts'
import { plain } from './event-words.ts'
import { oneLine, truncateToWidth } from './text.ts'
import { dollars } from './units.ts'

const WIDTH = 160

/** A message on one line: the author, and the text, calls or result. */
export function messageLine(m: Message): string {
  if (m.role !== 'assistant') {
    const who = m.role === 'tool' ? `${m.toolName}${m.isError ? ' ✗' : ''}` : m.role
    return truncateToWidth(oneLine(`${who}: ${m.content}`), WIDTH)
  }
  const calls = requestedCalls(m.content).map((c) => `→ ${c.name} ${JSON.stringify(c.arguments)}`)
  return truncateToWidth(oneLine(`assistant: ${[textOf(m.content), ...calls].filter(Boolean).join(' ')}`), WIDTH)
}

/** State members that the messages and files already show in another form. */
const SAID = /^\/(?:pendingToolCalls|completedToolResults|pendingCreates|tree)(?:\/|$)/

/** Whether a difference is of interest to people. */
export const telling = ({ path }: { path: string }): boolean => !SAID.test(path)

/** A difference of two states on one line. */
export function changeText({ path, a, b }: { path: string; a?: unknown; b?: unknown }): string {
  const side = (v: unknown) => (v === undefined ? '(absent)' : v === '' ? '""' : truncateToWidth(plain(v), 60))
  return oneLine(`${path}: ${side(a)} → ${side(b)}`)
}

function machineText({ machineState, error, paused }: AgentPoint): string {
  const why = error === null ? '' : ` ${error.code}: ${error.message}`
  return `${machineState}${why}${paused ? ', paused' : ''}`
}

function outcomeText({ stage, outcome, cancelled }: RecordedPoint): string {
  const asked = cancelled && outcome === null ? ', its end was asked for' : ''
  if (outcome === null) return `${stage === 'in_doubt' ? 'in doubt: no process of keepup sees it' : stage}${asked}`
  if (outcome.outcome === 'unknown') return `unknown: ${outcome.reason}`
  const { code, signal } = outcome.exit ?? { code: null, signal: null }
  const exit = code !== null ? `, exit ${code}` : signal !== null ? `, ${signal}` : ''
  if (outcome.outcome === 'failed') return `failed: ${outcome.error.message}${exit}`
  if (outcome.outcome === 'cancelled') return `cancelled${exit}`
  return `${outcome.success ? 'done' : 'failed'}${exit}`
}

function usedText({ usage }: RecordedPoint): string {
  if (usage === null) return ''
  const tokens = `${usage.inputTokens ?? '?'} tokens in, ${usage.outputTokens ?? '?'} out`
  return `${tokens}, ${usage.cost === null ? 'cost not known' : dollars(usage.cost.nanoDollars)}`
}

const linesOf = (rows: readonly (readonly [string, string])[]): string[] =>
  rows.filter(([, value]) => value !== '').map(([name, value]) => `${name.padEnd(12)} ${oneLine(value)}`)

/** An external agent's run at a point of its record, as text. */
export function recordedLines(at: RecordedPoint): string[] {
  return linesOf([
    ['agent', `${at.agentId} (${at.backend}) at revision ${at.revision} (${at.timestamp})`],
    ['state', outcomeText(at)],
    ['asked', truncateToWidth(at.prompt, WIDTH)],
    ['session', at.sessionId ?? ''],
    ['events', `${at.events.count} of the agent so far`],
    ['own calls', at.ownCalls === 0 ? '' : `${at.ownCalls} of keepup's tools`],
    ['waits for', at.openPermissions.join(', ')],
    ['used', usedText(at)],
    ['said last', at.outcome?.outcome === 'exited' ? truncateToWidth(at.outcome.finalText ?? '', WIDTH) : ''],
  ])
}

/** An agent at a point of its history, as text. `-o json` shows all of it. */
export function stateLines(at: AgentPoint): string[] {
  const { messages, sopPhase, contextVariables } = at.state
  const { inputTokens, outputTokens, nanoDollars } = at.usage
  const waits = at.pendingToolCalls.map((call) => `${call.name} (${call.id})`)
  const variables = Object.entries(contextVariables).map(
    ([name, value]) => `${name}=${truncateToWidth(plain(value), 60)}`,
  )
  const rows: [string, string][] = [
    ['agent', `${at.agentId} at revision ${at.revision} (${at.timestamp})`],
    ['state', machineText(at)],
    ['turn, step', `${at.turn}, ${at.step}`],
    ['phase', sopPhase],
    ['gates held', at.gatesPassed.join(', ')],
    ['permitted', at.permissions.map(({ tool, scope, until }) => `${tool} (${scope}, until ${until})`).join(', ')],
    ['tasks', at.tasks.length === 0 ? '' : taskProgress(at.tasks)],
    ['variables', variables.join(', ')],
    ['open calls', waits.join(', ')],
    ['created', at.pendingCreates.join(', ')],
    [
      'documents',
      Object.entries(at.documents)
        .map(([id, frontier]) => `${id} at ${truncateToWidth(frontier, 60)}`)
        .join(', '),
    ],
    ['used', `${inputTokens} tokens in, ${outputTokens} out, ${dollars(nanoDollars)}`],
    ['files', at.tree === null ? '' : `tree ${at.tree}`],
  ]
  return [...linesOf(rows), `${messages.length} messages:`, ...messages.map((m) => `  ${messageLine(m as Message)}`)]
}

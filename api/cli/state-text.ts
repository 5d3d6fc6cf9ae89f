import { type Message, requestedCalls, textOf } from '../../domain/agent/events/content.ts'
import { type AgentState, recoveryOf } from '../../domain/agent/state/state.ts'
import { plain } from './event-text.ts'
import { cut, oneLine } from './output/text.ts'
import { dollars } from './output/units.ts'

const WIDTH = 160

/** A message on one line: who, and what was said, asked for or given back. */
export function messageText(m: Message): string {
  if (m.role !== 'assistant') {
    const who = m.role === 'tool' ? `${m.toolName}${m.isError ? ' ✗' : ''}` : m.role
    return cut(oneLine(`${who}: ${m.content}`), WIDTH)
  }
  const calls = requestedCalls(m.content).map((c) => `→ ${c.name} ${JSON.stringify(c.arguments)}`)
  return cut(oneLine(`assistant: ${[textOf(m.content), ...calls].filter(Boolean).join(' ')}`), WIDTH)
}

/** Parts of a state that only the program itself cares for. */
const BOOKKEEPING =
  /^\/(?:at|clock|commands|context|correlation|driver|failedCalls|follows|forgivenAt|inherited|lastText|lostAttempts|messages|revision|specHash|textOnly|tree|unheard|unreadRoot|unversioned|variables|machine\/(?:activity|calls|ended|model|outcome))(?:\/|$)/

/** Whether a difference says something to people. */
export const telling = ({ path }: { path: string }): boolean => !BOOKKEEPING.test(path)

/** A difference of two states on one line. */
export function changeText({ path, a, b }: { path: string; a?: unknown; b?: unknown }): string {
  const side = (v: unknown) => (v === undefined ? '(absent)' : v === '' ? '""' : cut(plain(v), 60))
  return oneLine(`${path}: ${side(a)} → ${side(b)}`)
}

function machineText({ machine, paused }: AgentState): string {
  const why = machine.status === 'ERROR' ? ` ${machine.code}: ${machine.error}` : ''
  const inner = machine.status === 'RECOVERY' ? ` (${recoveryOf(machine)?.reason})` : ''
  return `${machine.status}${inner}${why}${paused ? ', paused' : ''}`
}

const filesText = ({ tree, unversioned }: AgentState): string => {
  if (tree === null) return ''
  return unversioned === null ? `tree ${tree}` : `tree ${tree}, before step ${unversioned.from}`
}

/** An agent at a point of its history, for people; `-o json` has all of it. */
export function stateLines(at: {
  agentId: string
  revision: number
  timestamp: string
  state: AgentState
  messages: readonly Message[]
}): string[] {
  const s = at.state
  const { input, cacheRead, cacheWrite, output, nanoDollars } = s.spent
  const rows: [string, string][] = [
    ['agent', `${at.agentId} at revision ${at.revision} (${at.timestamp})`],
    ['state', machineText(s)],
    ['turn, step', `${s.turn}, ${s.step}`],
    ['phase', s.phase],
    ['gates held', s.gatesPassed.join(', ')],
    ['used', `${input + cacheRead + cacheWrite} tokens in, ${output} out, ${dollars(nanoDollars)}`],
    ['files', filesText(s)],
  ]
  return [
    ...rows.filter(([, value]) => value !== '').map(([name, value]) => `${name.padEnd(12)} ${oneLine(value)}`),
    `${at.messages.length} messages:`,
    ...at.messages.map((m) => `  ${messageText(m)}`),
  ]
}

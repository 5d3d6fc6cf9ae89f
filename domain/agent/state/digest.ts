import { hash } from 'node:crypto'
import { callWithoutText } from '../../calls/call.ts'
import { graphWithoutText } from '../tasks/state.ts'
import { compressionWithoutText } from '../window/compression-state.ts'
import { type AgentState, activityOf, BLANK, type StateMachine } from './state.ts'

// The digest is part of the storage format. Raise FOLD for any change of what it covers, except a new member.

/** Version of the fold and of the view that digests cover. */
export const AGENT_FOLD = 1

/**
 * Members that the digest excludes. `hashSalt` can be erased with its body, `lastText` is derived from the
 * messages, and the hash of its event covers the spec.
 */
const NOT_COVERED: ReadonlySet<string> = new Set<keyof AgentState>(['hashSalt', 'lastText', 'spec'])

/** A machine without its texts, which can be erased. The hashes of the source events cover the texts. */
function machineWithoutText(machine: StateMachine): unknown {
  if (machine.status === 'ERROR') return { status: machine.status, code: machine.code }
  const activity = activityOf(machine)
  if (activity === null || activity.status === 'THINKING' || activity.calls.length === 0) return machine
  const shown = { ...activity, calls: activity.calls.map(callWithoutText) }
  return machine.status === 'RECOVERY' ? { ...machine, activity: shown } : shown
}

/** Removes text from members, because text can be erased. */
const WITHOUT_TEXT: { readonly [K in keyof AgentState]?: (value: NonNullable<AgentState[K]>) => unknown } = {
  cancel: ({ reason: _, ...cancel }) => cancel,
  compression: compressionWithoutText,
  machine: machineWithoutText,
  prompt: ({ system: _, ...prompt }) => prompt,
  tasks: graphWithoutText,
}

/**
 * Members that nearly every event changes. Caching their text costs more than writing it, mostly in garbage collection.
 */
const FLEETING: ReadonlySet<string> = new Set<keyof AgentState>([
  'clock',
  'context',
  'failedModels',
  'machine',
  'messages',
  'spent',
])

/**
 * Cached text of parts of members. A decision changes only one of many entries, for example in the courier's records.
 */
const parts = new WeakMap<object, string>()

const COVERED = (Object.keys(BLANK) as (keyof AgentState)[]).filter((name) => !NOT_COVERED.has(name)).sort()
const LABELS = COVERED.map((name) => `${JSON.stringify(name)}:`)
/** The text of each initial value. The digest omits initial values, so that a new member leaves older digests valid. */
const INITIAL = COVERED.map((name) => stable((BLANK as Partial<AgentState>)[name]))

/** The digest of a folded state, hex SHA-256. Growing parts are covered by their roots. */
export function digestOf(state: AgentState): string {
  let view = `keepup-fold-${AGENT_FOLD}\n{`
  let separator = ''
  for (let i = 0; i < COVERED.length; i++) {
    const value = state[COVERED[i]!]
    const text = value === undefined ? INITIAL[i] : member(i, value)
    if (text === INITIAL[i]) continue
    view += separator + LABELS[i] + text
    separator = ','
  }
  return hash('sha256', `${view}}`)
}

// Parts of a state are immutable and mostly shared with the next state, so their text is cached.
const written = COVERED.map((name) => (FLEETING.has(name) ? null : new WeakMap<object, string>()))

function member(i: number, value: unknown): string {
  if (value === null || typeof value !== 'object') return stable(value)
  const known = written[i]?.get(value)
  if (known !== undefined) return known
  const shorten = WITHOUT_TEXT[COVERED[i]!] as ((value: object) => unknown) | undefined
  const shown = shorten === undefined ? value : shorten(value)
  const text = written[i] === null ? stable(shown) : keptPart(shown)
  written[i]?.set(value, text)
  return text
}

/** JSON with sorted keys, sufficient because states are plain JSON. `part`: writes each item or member. */
function stable(value: unknown, part: (value: unknown) => string = stable): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return `${value}`
  if (typeof value !== 'object') return JSON.stringify(value)
  return Array.isArray(value) ? stableArray(value, part) : stableRecord(value as Record<string, unknown>, part)
}

function keptPart(value: unknown): string {
  if (value === null || typeof value !== 'object') return stable(value)
  const known = parts.get(value)
  if (known !== undefined) return known
  const text = stable(value, keptPart)
  parts.set(value, text)
  return text
}

function stableArray(items: readonly unknown[], part: (value: unknown) => string): string {
  let text = ''
  for (const item of items) text += (text === '' ? '' : ',') + part(item)
  return `[${text}]`
}

function stableRecord(record: Readonly<Record<string, unknown>>, part: (value: unknown) => string): string {
  let text = ''
  for (const key of Object.keys(record).sort())
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${part(record[key])}`
  return `{${text}}`
}

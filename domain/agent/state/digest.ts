import { hash } from 'node:crypto'
import { type AgentState, activityOf, type Machine } from './state.ts'

// The digest is part of the storage format: a change of the view below raises FOLD.

/** Version of the fold and of the view that digests are taken over. */
export const FOLD = 1

/** What the digest is taken of. A member more or less is another view: it raises FOLD. */
const MEMBERS = {
  agentId: true,
  // Goes with the body it came from.
  argumentsSalt: false,
  artifactTypes: true,
  at: true,
  cancel: true,
  clock: true,
  commands: true,
  context: true,
  correlation: true,
  depth: true,
  driver: true,
  failedCalls: true,
  failedModel: true,
  follows: true,
  forgivenAt: true,
  gatesPassed: true,
  inherited: true,
  // Follows from the messages.
  lastText: false,
  loss: true,
  lostAttempts: true,
  machine: true,
  messages: true,
  modelFailures: true,
  parent: true,
  paused: true,
  phase: true,
  revision: true,
  runId: true,
  // Represented by the hash of the event it came from.
  spec: false,
  specHash: true,
  spent: true,
  standing: true,
  step: true,
  stepping: true,
  tested: true,
  textOnly: true,
  tree: true,
  turn: true,
  unheard: true,
  unread: true,
  unreadCorrelation: true,
  unreadRoot: true,
  unresolved: true,
  unversioned: true,
  variables: true,
  violations: true,
} as const satisfies Record<keyof AgentState, boolean>

/** Members that came later: the view omits one that has its initial value, so that older digests stay valid. */
const LATER: ReadonlySet<keyof AgentState> = new Set(['loss'])

/**
 * A machine without what was said in it: texts are represented by the events they came from, where they can be erased;
 * what followed from them stays provable.
 */
function unsaidMachine(machine: Machine): unknown {
  if (machine.status === 'ERROR') return { status: machine.status, code: machine.code }
  const activity = activityOf(machine)
  if (activity === null || activity.status === 'THINKING' || activity.calls.length === 0) return machine
  const calls = activity.calls.map(
    ({ refused, reads: _, writes: __, signatures: ___, askedName: ____, stage, ...call }) => ({
      ...call,
      refused: refused && { code: refused.code, rule: refused.rule ?? null },
      stage: stage.at === 'rejected' ? { at: stage.at } : stage,
    }),
  )
  const said = { ...activity, calls }
  return machine.status === 'RECOVERY' ? { ...machine, activity: said } : said
}

/** Members in which somebody may have said something, as the view shows them. */
const UNSAID: { readonly [K in keyof AgentState]?: (value: NonNullable<AgentState[K]>) => unknown } = {
  cancel: ({ reason: _, ...cancel }) => cancel,
  machine: unsaidMachine,
}

const VIEW = (Object.keys(MEMBERS) as (keyof typeof MEMBERS)[]).filter((name) => MEMBERS[name]).sort()
const LABELS = VIEW.map((name) => `${JSON.stringify(name)}:`)

/** The digest of a folded state, hex SHA-256: over roots of what grows and the small part that changes. */
export function digestOf(state: AgentState): string {
  let view = `keepup-fold-${FOLD}\n{`
  for (let i = 0; i < VIEW.length; i++) {
    const value = state[VIEW[i]!]
    if (value == null && LATER.has(VIEW[i]!)) continue
    view += (i === 0 ? '' : ',') + LABELS[i] + member(i, value)
  }
  return hash('sha256', `${view}}`)
}

// The parts of a state are never changed in place, and most are the same objects in the next state: their text is kept with
// them, for as long as a state holds them.
const written = VIEW.map(() => new WeakMap<object, string>())

function member(i: number, value: unknown): string {
  if (value === null || typeof value !== 'object') return stable(value)
  const known = written[i]!.get(value)
  if (known !== undefined) return known
  const unsaid = UNSAID[VIEW[i]!] as ((value: object) => unknown) | undefined
  const text = stable(unsaid === undefined ? value : unsaid(value))
  written[i]!.set(value, text)
  return text
}

/** JSON with sorted keys. States are plain JSON, so that this is enough. */
function stable(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return `${value}`
  if (typeof value !== 'object') return JSON.stringify(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += (text === '' ? '' : ',') + stable(item)
    return `[${text}]`
  }
  for (const key of Object.keys(value).sort())
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${stable((value as Record<string, unknown>)[key])}`
  return `{${text}}`
}

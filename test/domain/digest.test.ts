import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AGENT_FOLD, digestOf, earlierDigest } from '../../domain/agent/state/digest.ts'
import { type AgentState, BLANK } from '../../domain/agent/state/state.ts'
import { property } from '../support/property.ts'

/** The digest as the format says it, without a thought for its cost. */
function plainly(state: AgentState, fold = AGENT_FOLD): string {
  const { spec: _spec, lastText: _lastText, hashSalt: _hashSalt, ...rest } = state
  const changed = Object.entries(rest).filter(
    ([name, value]) => sorted(value) !== sorted(BLANK[name as keyof typeof BLANK]),
  )
  const members = changed
    .map(([name, value]) => [name, sorted(SHAPED[name]?.covered(value as never) ?? value)] as const)
    .map(([name, text]) => `"${name}":${fold > 1 && text.length > 1024 ? `#${sha256(text)}` : text}`)
  return sha256(`keepup-fold-${fold}\n{${members.sort().join(',')}}`)
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function sorted(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`).join(',')}}`
}

/** Values whose text is about as long as the longest that a digest covers as it is. */
const long = fc.integer({ min: 1_000, max: 1_040 }).map((length) => [{ text: 'x'.repeat(length) }])
const json = fc.jsonValue({ maxDepth: 2 })
const recorded = fc.record({ revision: fc.nat(), hash: fc.string({ maxLength: 4 }), text: fc.string() })
const source = (one: { revision: number; hash: string } | null) =>
  one === null ? null : { revision: one.revision, hash: one.hash }

/** Members that hold text: what they may be, and what of it the digest covers. */
const SHAPED: Readonly<Record<string, { readonly made: fc.Arbitrary<unknown>; covered(value: never): unknown }>> = {
  cancel: {
    made: fc.record(
      { deadlineAt: fc.nat(), by: fc.string(), reason: fc.string() },
      { requiredKeys: ['deadlineAt', 'by'] },
    ),
    covered: ({ deadlineAt, by }: { deadlineAt: number; by: string }) => ({ deadlineAt, by }),
  },
  prompt: {
    made: fc.record({ revision: fc.nat(), hash: fc.string(), system: fc.string() }),
    covered: source,
  },
  compression: {
    made: fc.record({
      ...{ segments: json, summarizing: json, attempts: fc.nat(), failed: fc.nat(), expanding: json, pinned: json },
      ...{ summary: fc.option(recorded), draft: fc.option(recorded), knowledgeDue: fc.boolean() },
      knowledge: fc.option(fc.record({ revision: fc.nat(), hash: fc.string(), items: json })),
    }),
    covered: ({ summary, draft, knowledge, ...rest }: AgentState['compression']) => ({
      ...{ ...rest, summary: source(summary), draft: source(draft), knowledge: source(knowledge) },
    }),
  },
  tasks: {
    made: fc.record({
      changes: fc.record({ count: fc.nat(), hash: fc.string() }),
      tasks: fc.array(fc.record({ id: fc.string(), title: fc.string(), status: json, dependencies: json })),
    }),
    covered: ({ changes, tasks }: NonNullable<AgentState['tasks']>) => ({
      changes,
      tasks: tasks.map(({ id, status, dependencies }) => ({ id, status, dependencies })),
    }),
  },
}

describe('the digest of a state', () => {
  test('is over its members in order of their names, whatever was hashed before it', () => {
    const names = fc.constantFrom(...(Object.keys(BLANK) as (keyof typeof BLANK)[]))
    const change = names.chain((name) =>
      fc.tuple(fc.constant(name), SHAPED[name]?.made ?? fc.oneof(fc.jsonValue({ maxDepth: 3 }), long)),
    )
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), (changes) => {
        let state = { ...BLANK, spec: {} } as AgentState
        for (const [name, value] of changes) {
          // Frozen: parts of a state are shared between states and never changed in place.
          state = Object.freeze({ ...state, [name]: value } as AgentState)
          expect(digestOf(state)).toBe(plainly(state))
          expect(earlierDigest(1, state)).toBe(plainly(state, 1))
        }
      }),
      property(300),
    )
  })

  test('covers a long member by its hash, and no other text looks like one', () => {
    const digest = (commands: unknown) => digestOf({ ...BLANK, spec: {}, commands } as AgentState)
    const text = JSON.stringify(['x'.repeat(2_000)])
    expect(digest([`#${sha256(text)}`])).not.toBe(digest(JSON.parse(text)))
    expect(digest(['x'.repeat(2_000)])).not.toBe(digest([`${'x'.repeat(1_999)}y`]))
  })

  test('omits members that have their initial value, so that a new one leaves older digests valid', () => {
    const state = { ...BLANK, spec: {}, turn: 3 } as unknown as AgentState
    const { unresolved: _, ...older } = state
    expect(digestOf(state)).toBe(digestOf(older as AgentState))
    expect(digestOf({ ...state, unresolved: ['c1'] })).not.toBe(digestOf(state))
    expect(digestOf({ ...state, turn: 0 })).not.toBe(digestOf(state))
  })

  test('covers the event of the system prompt and not its text, which can be erased', () => {
    const digest = (prompt: AgentState['prompt']) => digestOf({ ...BLANK, spec: {}, prompt } as AgentState)
    const prompt = { revision: 5, hash: 'a'.repeat(64), system: 'You are an agent.' }
    expect(digest({ ...prompt, system: '[erased]' })).toBe(digest(prompt))
    expect(digest({ ...prompt, hash: 'b'.repeat(64) })).not.toBe(digest(prompt))
  })

  test('is the same whatever was said of a cancel', () => {
    const digest = (cancel: AgentState['cancel']) => digestOf({ ...BLANK, spec: {}, cancel } as AgentState)
    const cancel = { deadlineAt: 5, by: 'ann' }
    expect(digest({ ...cancel, reason: 'a private matter' })).toBe(digest(cancel))
    expect(digest({ ...cancel, deadlineAt: 6 })).not.toBe(digest(cancel))
    expect(digest(null)).not.toBe(digest(cancel))
  })
})

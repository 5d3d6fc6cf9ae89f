import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { document } from '../../../domain/document/stream/aggregate.ts'
import type { DocumentState } from '../../../domain/document/stream/state.ts'
import { canonicalText } from '../../../domain/log/canonical.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { sha256 } from '../../../domain/log/ids.ts'
import { GENESIS } from '../../../domain/log/seal.ts'
import { checkDigest } from '../../../domain/stream/runtime/check-digest.ts'
import { property } from '../../support/property.ts'

const INITIAL: Partial<DocumentState> = { frontier: '', root: GENESIS, updates: 0 }

/** The digest as the format defines it. */
function plainly(state: DocumentState): string {
  const members = Object.entries(state)
    .filter(([name, value]) => value !== undefined && value !== INITIAL[name as keyof DocumentState])
    .map(([name, value]) => [name, canonicalText(value)] as const)
    .map(([name, text]) => `"${name}":${text.length > 1024 ? `#${sha256(text)}` : text}`)
  return sha256(`keepup-document-fold-2\n{${members.sort().join(',')}}`)
}

const thread = fc.record({ kind: fc.constantFrom('comment' as const, 'suggestion' as const), revision: fc.nat() })
const states: fc.Arbitrary<DocumentState> = fc.record(
  {
    title: fc.oneof(
      fc.string(),
      fc.integer({ min: 1_020, max: 1_024 }).map((length) => 'x'.repeat(length)),
    ),
    gatewayPeer: fc.string(),
    frontier: fc.string(),
    root: fc.oneof(fc.constant(GENESIS), fc.string()),
    updates: fc.nat(),
    open: fc.dictionary(fc.string({ minLength: 1 }), thread, { minKeys: 1, maxKeys: 60, noNullPrototype: true }),
  },
  { requiredKeys: ['title', 'gatewayPeer', 'frontier', 'root', 'updates'] },
)

const recordedWith = (fold: number, value: string) =>
  ({ header: { stream: 'document-d1', revision: 1, type: 'comment_added', digest: { fold, value } } }) as RecordedEvent

/** A state that a program with fold 1 recorded, and its digest. */
const EARLIER = {
  state: {
    title: 'Plan',
    gatewayPeer: '7',
    frontier: '7:41',
    root: 'ab'.repeat(32),
    updates: 3,
    open: { c1: { kind: 'comment', revision: 4 } },
  },
  digest: '087f1142dae9d3c9a3cf4015b48a47a0c970f005f7492db01c853d54525c56ea',
} as const

describe('the digest of a document', () => {
  test('covers each member, and a long one by its hash', () => {
    fc.assert(
      fc.property(states, (state) => {
        expect(document.digest(state)).toBe(plainly(state))
      }),
      property(300),
    )
  })

  test('covers every open thread', () => {
    const threads = Array.from({ length: 1_000 }, (_, n) => [`c${n}`, { kind: 'comment', revision: n }] as const)
    const state = { ...EARLIER.state, open: Object.fromEntries(threads) }
    const other = { ...state, open: { ...state.open, c500: { kind: 'suggestion' as const, revision: 500 } } }
    const { c500: _, ...without } = state.open
    expect(document.digest(other)).not.toBe(document.digest(state))
    expect(document.digest({ ...state, open: without })).not.toBe(document.digest(state))
  })

  test('of the earlier form is still checked', () => {
    const { state, digest } = EARLIER
    const changed = { ...state, open: { c1: { kind: 'comment', revision: 5 } } } as const
    expect(() => checkDigest(document, state, recordedWith(1, digest))).not.toThrow()
    expect(() => checkDigest(document, changed, recordedWith(1, digest))).toThrow('differs from the recorded one')
  })
})

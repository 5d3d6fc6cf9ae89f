import { canonicalText } from '../../log/canonical.ts'
import type { Json } from '../../log/json.ts'
import { SpawnError } from './errors.ts'

/** The result of a child. Lists of children are in spawn order. */
export interface ChildResult {
  readonly agentId: string
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly result: unknown
}

/** The merges of seed 004 that need only the results. */
export const MERGES = ['concatenate', 'structured', 'vote', 'summarize'] as const
/** The name of a built-in merge of results. */
export type MergeName = (typeof MERGES)[number]

/** The merged results of the children. The result does not depend on the order of arrival. */
export interface Merged {
  readonly result: unknown
  /** Children without a result, because they failed or were cancelled. */
  readonly missing: readonly string[]
  /** Of a vote: `won`: children with the winning answer; `of`: children that voted. */
  readonly votes?: { readonly won: number; readonly of: number }
}

/** The maximum length of a summary, in characters. */
export const SUMMARY_CHARACTERS = 2_000
const CUT = '…'

const asText = (value: unknown): string => (typeof value === 'string' ? value : canonicalText(plain(value)))
const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value ?? null)) as Json

const answered = (children: readonly ChildResult[]) => children.filter(({ status }) => status === 'completed')
const missingOf = (children: readonly ChildResult[]) =>
  children.filter(({ status }) => status !== 'completed').map(({ agentId }) => agentId)

/** Merges the results. Throws `INVALID_MERGE` for an unknown name. */
export function merge(name: MergeName, children: readonly ChildResult[]): Merged {
  const missing = missingOf(children)
  switch (name) {
    case 'concatenate':
      return { result: concatenated(children), missing }
    case 'structured':
      return { result: Object.fromEntries(children.map(({ agentId, result }) => [agentId, result])), missing }
    case 'vote':
      return { ...voted(answered(children)), missing }
    case 'summarize':
      return { result: shares(answered(children)), missing }
    default:
      throw new SpawnError('INVALID_MERGE', `a merge is a function, or one of ${MERGES.join(', ')}`)
  }
}

/** The answers in order, separated by a blank line. */
export const concatenated = (children: readonly ChildResult[]): string =>
  answered(children)
    .map(({ result }) => asText(result))
    .join('\n\n')

/** The most frequent answer, ignoring surrounding white space; the first one after a tie. Null: no child answered. */
function voted(children: readonly ChildResult[]): Pick<Merged, 'result' | 'votes'> {
  const counts = new Map<string, { readonly result: unknown; count: number }>()
  for (const { result } of children) {
    const ballot = typeof result === 'string' ? JSON.stringify(result.trim()) : asText(result)
    const so = counts.get(ballot) ?? { result, count: 0 }
    so.count++
    counts.set(ballot, so)
  }
  let best: { readonly result: unknown; count: number } = { result: null, count: 0 }
  for (const one of counts.values()) if (one.count > best.count) best = one
  return { result: best.result, votes: { won: best.count, of: children.length } }
}

/**
 * The start of each answer, with an equal share of the summary. Characters that a short answer leaves go to longer
 * ones.
 */
function shares(children: readonly ChildResult[]): string {
  const texts = children.map(({ result }) => asText(result))
  let left = SUMMARY_CHARACTERS - 2 * Math.max(0, texts.length - 1)
  const lengths = new Map<number, number>()
  const byLength = texts.map((text, at) => [text.length, at] as const).sort((a, b) => a[0] - b[0])
  byLength.forEach(([length, at], done) => {
    const share = Math.max(0, Math.min(length, Math.floor(left / (byLength.length - done))))
    lengths.set(at, share)
    left -= share
  })
  return cutTo(texts.map((text, at) => cutTo(text, lengths.get(at)!)).join('\n\n'), SUMMARY_CHARACTERS)
}

/** Cuts a text to a number of characters. A cut text ends with "…", and no surrogate pair is split. */
export function cutTo(text: string, characters: number): string {
  if (text.length <= characters) return text
  if (characters < 1) return ''
  const end = characters - CUT.length
  const inPair = /[\ud800-\udbff]/.test(text[end - 1] ?? '')
  return text.slice(0, inPair ? end - 1 : end) + CUT
}

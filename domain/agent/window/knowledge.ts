import { canonicalText } from '../../log/canonical.ts'
import { saltedHash } from '../../log/ids.ts'
import type { AgentSpec, Knowledge } from '../../tree/spec.ts'
import type { BodyOf } from '../events/events.ts'
import type { AgentState } from '../state/state.ts'

// Requests add knowledge after compression, so that compression never removes it (seed 000, 5.11.4).

type Items = readonly BodyOf<'knowledge_added'>['items'][number][]

/** The knowledge items of an agent in its phase, by source. */
export function knowledgeFor({ spec, phase, hashSalt }: Pick<AgentState, 'spec' | 'phase' | 'hashSalt'>): Items {
  return inScope(spec, phase).map(({ kind, name, text }) => ({ source: { kind, name }, hash: hashOf(hashSalt, text) }))
}

const inScope = ({ knowledge = [], role }: AgentSpec, phase: string): readonly Knowledge[] =>
  knowledge.filter(
    ({ roles, phases }) =>
      (roles?.some((one) => one.toLowerCase() === role?.name.toLowerCase()) ?? true) &&
      (phases?.includes(phase) ?? true),
  )

const hashes = new Map<string, string>()

/** Cached, because the same few long texts are hashed in every turn. */
function hashOf(salt: string, text: string): string {
  const key = salt + text
  const known = hashes.get(key)
  if (known !== undefined) return known
  if (hashes.size > 256) hashes.clear()
  const hash = saltedHash(salt, text)
  hashes.set(key, hash)
  return hash
}

/** Whether the knowledge of the next request must be recorded first. */
export function knowledgeIsDue({ compression: { knowledge, knowledgeDue } }: AgentState, wanted: Items): boolean {
  if (knowledge === null) return wanted.length > 0
  return knowledgeDue || canonicalText(knowledge.items) !== canonicalText(wanted)
}

/** The texts of recorded knowledge, in order, without erased ones. */
export function textsOf(
  { spec: { knowledge = [] }, hashSalt }: Pick<AgentState, 'spec' | 'hashSalt'>,
  items: Items,
): readonly { name: string; text: string }[] {
  return items.flatMap(({ source, hash, text }) => {
    const found = text ?? knowledge.find((one) => one.name === source.name && hashOf(hashSalt, one.text) === hash)?.text
    return found === undefined ? [] : [{ name: source.name, text: found }]
  })
}

export const knowledgeText = (texts: readonly { name: string; text: string }[]): string =>
  texts.map(({ name, text }) => `Knowledge from ${JSON.stringify(name)}:\n${text}`).join('\n\n')

import type { Block, Message } from '../../domain/calls/content.ts'
import { callArguments } from '../../domain/calls/requested-calls.ts'
import type { JsonObject } from '../../domain/log/json.ts'

/** The result of a call, for a provider. `callId`: the call's id in this request. */
export interface Result {
  readonly callId: string
  readonly content: string
  readonly isError: boolean
}

/** Consecutive messages of one side. Results come first, because providers want them right after their calls. */
export type Section =
  | { readonly role: 'assistant'; readonly blocks: readonly Block[] }
  | { readonly role: 'user'; readonly results: readonly Result[]; readonly texts: readonly string[] }

/**
 * Groups messages into alternating sections. Consecutive user-side messages (input, system, results) become one
 * section. System messages within the conversation become `<system>` text. Makes call ids unique in the request, in
 * calls and results: some providers repeat ids, and others refuse repeats.
 */
export function sections(messages: readonly Message[]): Section[] {
  const out: Section[] = []
  const name = namer()
  // A result belongs to the newest call with its id.
  const ids = new Map<string, string>()
  let user: { role: 'user'; results: Result[]; texts: string[] } | null = null
  for (const message of messages) {
    if (message.role === 'assistant') {
      user = null
      const blocks = message.content.map((block) => withWireId(block, name, ids))
      if (blocks.length > 0) out.push({ role: 'assistant', blocks })
      continue
    }
    if (!user) {
      user = { role: 'user', results: [], texts: [] }
      out.push(user)
    }
    if (message.role === 'tool') {
      const callId = ids.get(message.providerCallId) ?? safeId(message.providerCallId)
      user.results.push({ callId, content: message.content, isError: message.isError })
    } else {
      const text = message.role === 'system' ? `<system>\n${message.content}\n</system>` : message.content
      if (text.trim() !== '') user.texts.push(text)
    }
  }
  return out.filter((s) => s.role === 'assistant' || s.results.length + s.texts.length > 0)
}

function withWireId(block: Block, name: (id: string) => string, ids: Map<string, string>): Block {
  if (block.type !== 'tool_use') return block
  const id = typeof block.id === 'string' ? block.id : ''
  const wire = name(id)
  ids.set(id, wire)
  return wire === block.id ? block : ({ ...block, id: wire } as Block)
}

/** Makes ids unique. The counter per id keeps this linear for a thousand repeats. */
function namer(): (id: string) => string {
  const next = new Map<string, number>()
  const used = new Set<string>()
  return (id) => {
    const base = safeId(id)
    let n = next.get(base) ?? 1
    let candidate = n === 1 ? base : `${base}_${n}`
    while (used.has(candidate)) {
      n += 1
      candidate = `${base}_${n}`
    }
    next.set(base, n + 1)
    used.add(candidate)
    return candidate
  }
}

const safeId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call'

/** A tool name that every provider accepts in a history, even for a name that a model invented. */
export const safeName = (name: unknown): string =>
  (typeof name === 'string' ? name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) : '') || 'unknown'

/** A call's arguments as an object. Arguments that are not an object become the member `raw_arguments`. */
export function wireArguments(block: Block): JsonObject {
  const args = callArguments(block)
  if (args) return args
  const raw = typeof block.input_text === 'string' ? block.input_text : JSON.stringify(block.input ?? null)
  return { raw_arguments: raw }
}

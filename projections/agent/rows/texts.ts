import type { Block } from '../../../domain/calls/content.ts'
import { requestedCalls, textOf } from '../../../domain/calls/requested-calls.ts'
import { toolCallId } from '../../../domain/log/ids.ts'
import type { Change } from '../../engine/changes/change.ts'
import { cut } from '../../engine/text.ts'
import { put } from '../changes.ts'
import type { TextKind } from '../text-kinds.ts'
import type { ProjectedEvent } from './event.ts'

/** The text of a part of an event, as people search it. */
export interface PartText {
  readonly kind: TextKind
  readonly text: string
  readonly toolCallId?: string | undefined
}

/** The greatest length of a text, in characters. Longer outputs are attachments, whose end no row contains. */
const LONGEST = 64 * 1024

/** Changes of `run_texts`. A residue contains no text, so an erased event has no rows. */
export function texts(e: ProjectedEvent): Change[] {
  return textRows(e, partsOf(e))
}

/** The rows of an event's texts. Empty texts have no row. */
export function textRows(
  e: Pick<ProjectedEvent, 'agentId' | 'revision' | 'runId' | 'position' | 'time' | 'erased'>,
  parts: readonly PartText[],
): Change[] {
  if (e.erased) return []
  return parts.flatMap(({ kind, text, toolCallId = null }, part) => {
    if (text === '') return []
    const key = { agent_id: e.agentId, revision: e.revision, part }
    const from = { run_id: e.runId, position: e.position, at: e.time }
    return [put('run_texts', key, { ...from, kind, tool_call_id: toolCallId, text: cut(text, LONGEST) })]
  })
}

function partsOf(e: ProjectedEvent): PartText[] {
  if (e.body === null) return []
  const { toolCallId: call } = e
  switch (e.type) {
    case 'user_input':
      return [{ kind: 'input', text: e.body.text }]
    case 'model_call_end':
      return answerParts(e.body.content, (index) => toolCallId(e.agentId, e.turn, index))
    case 'tool_call_end':
    case 'late_outcome':
      return [outputPart(e.body, call)]
    case 'message_sent':
    case 'message_published':
      return [{ kind: 'message', text: plainText(e.body.payload) }]
    case 'message_received':
      // Other messages are in the stream of their sender.
      return [{ kind: 'message', text: e.body.origin === undefined ? e.body.text : '' }]
    case 'completion':
      return [{ kind: 'end', text: [e.body.summary, e.body.nextSteps ?? ''].join('\n').trim() }]
    case 'error':
      return [{ kind: 'end', text: [e.body.error, e.body.partialOutput ?? ''].join('\n').trim() }]
    default:
      return []
  }
}

/** The text of an answer, then the arguments of each call in it. `idOf`: the id of the call at an index. */
export function answerParts(content: readonly Block[], idOf: (index: number) => string | undefined): PartText[] {
  const calls = requestedCalls(content).map(({ name, block, arguments: parsed }, index): PartText => {
    const { input_text: raw } = content[block]!
    const given = parsed === null && typeof raw === 'string' ? raw : plainText(parsed)
    return { kind: 'arguments', text: `${name}\n${given}`, toolCallId: idOf(index) }
  })
  return [{ kind: 'answer', text: textOf(content) }, ...calls]
}

/** The text of the result or the error of a call. */
export const outputPart = (
  { result, error }: { readonly result?: unknown; readonly error?: { readonly message: string } | undefined },
  toolCallId: string | undefined,
): PartText => ({ kind: 'output', text: error?.message ?? plainText(result), toolCallId })

/** A JSON value as lines of text: each member after its name, strings without quotation marks and escapes. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === null || typeof value !== 'object') return value === null || value === undefined ? '' : String(value)
  if (Array.isArray(value)) return value.map(plainText).join('\n')
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${plainText(member)}`)
    .join('\n')
}

import { idOf } from '../../domain/log/owner.ts'
import type { MemoryEvent } from '../../domain/memory/events.ts'
import { placeWord, wordsOf } from '../../domain/memory/words.ts'
import { type Change, changesIn } from '../engine/changes/change.ts'
import type { Projected } from '../engine/changes/projection.ts'
import { actorText } from '../engine/text.ts'
import type { memoryTables } from './tables.ts'

const { put, set } = changesIn<typeof memoryTables>()

/** Changes of `memories`. A forgotten fact keeps its row, without text and words. */
export function memories({ header, position, event }: Projected<MemoryEvent>): Change[] {
  if (event === null) return []
  const id = idOf(header.stream)
  const at = { updated_at: header.timestamp, updated_by: actorText(header.actor), revision: header.revision }
  switch (event.type) {
    case 'fact_remembered': {
      const { scope, place, text } = event.body
      const made = { created_at: header.timestamp, created_by: actorText(header.actor), started: position }
      const from = { run_id: header.runId ?? null, tool_call_id: header.toolCallId ?? null }
      const place_word = placeWord({ scope, place })
      return [put('memories', { id }, { scope, place, place_word, ...said(text), ...made, ...from, ...at })]
    }
    case 'fact_corrected':
      return [set('memories', { id }, { ...said(event.body.text), ...at })]
    case 'fact_forgotten':
      return [set('memories', { id }, { ...said(null), ...at, forgotten_at: header.timestamp })]
    default:
      return []
  }
}

const said = (text: string | null) => ({ text, words: text === null ? null : wordsOf(text).join(' ') })

import { isFailure, type Tone, wordsFor } from '../../../cli/output/event-words.ts'
import type { EventView } from '../../../operations/events/schemas.ts'

/** `event`: absent while it is loading. */
export function toneOf(type: string, event?: EventView): Tone {
  if (event?.type === 'tool_call_end' && event.payload && isFailure(event.payload)) return 'bad'
  return wordsFor(type)?.tone ?? 'other'
}

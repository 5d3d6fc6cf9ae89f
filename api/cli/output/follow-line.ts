import type { EventView } from '../../operations/events/schemas.ts'
import type { Paint } from './colours.ts'
import { wordsFor } from './event-words.ts'

/** One line for a person who follows a run. Null: the event adds nothing for them, or its body was erased. */
export const eventLine = (event: EventView, paint: Paint): string | null =>
  (event.payload && wordsFor(event.type)?.follow?.(event.payload, paint, event)) ?? null

import { z } from 'zod'
import type { EventsOf } from '../stream/emitter.ts'

// Storage format: the events of `annotation-<run id>`. To change a shape, add a new version and an upcaster; never edit
// a version.

/** Null: the text was erased. */
const Text = z.string().min(1).nullable()
/** The revision of the event that added the tag or the note. It stays when the text is erased. */
const Added = z.int().nonnegative()

export const annotationBodies = {
  tag_added: z.strictObject({ tag: Text }),
  tag_removed: z.strictObject({ added: Added }),
  note_added: z.strictObject({ text: Text }),
  note_removed: z.strictObject({ added: Added }),
} as const

export type AnnotationEvent = EventsOf<typeof annotationBodies>

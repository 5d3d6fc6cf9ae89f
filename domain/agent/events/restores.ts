import { z } from 'zod'
import { count, Failure, text } from './event-parts.ts'

// Files of a version that a person puts back into the workspace (CONTRACTS 5): the request is the intent.

export const restoreEvents = {
  /** `tree`: the version that is put back; `replaces`: the one that holds the files as they were. `step`: whose files; absent: the tree was named. */
  restore_requested: z.strictObject({
    tree: text,
    replaces: text,
    step: count.optional(),
    reason: text.optional(),
  }),
  /** `restore`: revision of the request. `interrupted`: its process was lost, and a later restore takes its place. */
  restore_ended: z.strictObject({
    restore: count,
    outcome: z.enum(['restored', 'failed', 'interrupted']),
    error: Failure.optional(),
  }),
} as const

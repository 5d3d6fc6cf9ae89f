import { z } from 'zod'
import { Failure } from '../../calls/events/event-parts.ts'
import { count, text } from '../../log/body-parts.ts'

// A person restores a version of the workspace files (CONTRACTS 5). The request is the intent.

export const restoreEvents = {
  /**
   * `tree`: the version to restore. `replaces`: the version that contains the current files. `step`: the step whose
   * files are restored; absent: the request named the tree.
   */
  restore_requested: z.strictObject({
    tree: text,
    replaces: text,
    step: count.optional(),
    reason: text.optional(),
  }),
  /** `restore`: revision of the request. `interrupted`: the process died, and a later restore replaces this one. */
  restore_ended: z.strictObject({
    restore: count,
    outcome: z.enum(['restored', 'failed', 'interrupted']),
    error: Failure.optional(),
  }),
} as const

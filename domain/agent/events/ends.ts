import { z } from 'zod'
import { count, text } from './event-parts.ts'
import { Place } from './reuse.ts'

// How a run ends: by recovery, by completion, or by an error (CONTRACTS 1, 2). A failed model attempt is an error too.

export const endEvents = {
  recovery: z.discriminatedUnion('phase', [
    z.strictObject({
      phase: z.literal('final_warning'),
      reason: z.enum(['turns', 'wall_clock', 'budget']),
      maxTurns: z.int(),
      graceTurns: z.int(),
      deadlineMs: z.int(),
      warning: text,
    }),
    z.strictObject({ phase: z.literal('succeeded') }),
    z.strictObject({ phase: z.literal('failed'), reason: text }),
  ]),
  completion: z.strictObject({
    summary: text,
    artifacts: z.array(text),
    nextSteps: text.optional(),
    unmetGates: z.array(text),
    unreadInput: count,
  }),
  /** `recoverable`: a model attempt failed; else the run ended in ERROR with this code. */
  error: z.strictObject({
    error: text,
    code: text,
    recoverable: z.boolean(),
    attempt: z.int().positive().optional(),
    delayMs: count.optional(),
    /** Every model that may serve has failed: the run waits for one to come back, and its time stands still. */
    outage: z.literal(true).optional(),
    /** The provider asked for the wait: the run's time stands still meanwhile. */
    limited: z.literal(true).optional(),
    partialOutput: text.optional(),
    /** Gates of the role that a run which ended in ERROR had not passed. */
    unmetGates: z.array(text).optional(),
    /** The failed attempt was taken from the record. */
    reused: Place.optional(),
  }),
} as const

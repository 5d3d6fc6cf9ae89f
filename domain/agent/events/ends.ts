import { z } from 'zod'
import { count, EventPlace, text } from '../../log/body-parts.ts'

// Events that end a run: recovery, completion and error (CONTRACTS 1, 2). A failed model attempt is also an `error`.

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
  /** `recoverable`: a model attempt failed. Otherwise the run ended in ERROR with this code. */
  error: z.strictObject({
    error: text,
    code: text,
    recoverable: z.boolean(),
    attempt: z.int().positive().optional(),
    delayMs: count.optional(),
    /**
     * Every model that may serve has failed. The run waits for one to recover; the wait does not count as work time.
     */
    outage: z.literal(true).optional(),
    /** The provider asked for the delay, which does not count as work time. */
    limited: z.literal(true).optional(),
    partialOutput: text.optional(),
    /** Gates of the role that the run had not passed when it ended in ERROR. */
    unmetGates: z.array(text).optional(),
    /** The recorded failure that this one was copied from. */
    reused: EventPlace.optional(),
  }),
} as const

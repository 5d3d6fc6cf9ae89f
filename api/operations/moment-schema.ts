import { z } from 'zod'
import { momentOf } from './moment.ts'

export const MOMENT = 'expected a time such as 2026-11-23 or 2026-11-23T08:00:00Z, or how long ago: 30m, 12h, 2d, 1w'

/** A time in a request, converted to ISO 8601 in UTC. */
export const Moment = z
  .string()
  .max(40)
  .transform((text, c) => {
    const at = momentOf(text, Date.now())
    if (at === null) c.addIssue({ code: 'custom', message: MOMENT })
    return at ?? z.NEVER
  })

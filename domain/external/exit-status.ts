import { z } from 'zod'

/** How a process ended: with an exit code, or by a signal. */
export const ExitStatus = z.strictObject({ code: z.int().nullable(), signal: z.string().min(1).nullable() })
export type ExitStatus = z.infer<typeof ExitStatus>

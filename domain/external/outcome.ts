import { z } from 'zod'
import type { AgentErrorCode } from './errors.ts'
import { ExitStatus } from './exit-status.ts'

const CODES = ['UnsupportedCapability', 'Backend'] as const satisfies readonly AgentErrorCode[]
const RunError = z.strictObject({ code: z.enum(CODES), message: z.string() })

/**
 * The outcome of a run. `exited`: the process ended by itself; `success`: whether the agent did its work, which the
 * exit code alone does not show. `failed`: the process was killed or never started. `unknown`: the end was not
 * observed.
 */
export const Outcome = z.discriminatedUnion('outcome', [
  z.strictObject({
    outcome: z.literal('exited'),
    exit: ExitStatus,
    success: z.boolean(),
    finalText: z.string().nullable(),
  }),
  z.strictObject({ outcome: z.literal('failed'), exit: ExitStatus.nullable(), error: RunError }),
  z.strictObject({ outcome: z.literal('cancelled'), exit: ExitStatus.nullable() }),
  z.strictObject({ outcome: z.literal('unknown'), reason: z.string().min(1) }),
])
export type Outcome = z.infer<typeof Outcome>

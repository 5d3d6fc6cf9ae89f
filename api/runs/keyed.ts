import { createHash } from 'node:crypto'
import { canonicalBytes } from '../../domain/log/canonical.ts'
import { agentStream, base32, keyedCommand, sha256 } from '../../domain/log/ids.ts'
import { Problem } from '../http/problem.ts'
import type { Services } from '../services.ts'

// What makes a repeated request the same one: Idempotency-Keys become ids that the log remembers.

export const keyReused = (): Problem =>
  new Problem(422, 'IDEMPOTENCY_KEY_REUSED', 'this Idempotency-Key came with another request before; draw a new one')

/** The same request gives the same command id, which the agent's state remembers. */
export function commandId(key: string, asked: unknown): string {
  return `${key}#${sha256(canonicalBytes(asked)).slice(0, 16)}`
}

/** A run id that the same key gives again, also after a restart. `scope`: what is asked for. */
export const keyedRunId = ({ log }: Pick<Services, 'log'>, scope: string, key: string): string =>
  base32(createHash('sha256').update(`${scope}\n${log.logId}\n${key}`).digest().subarray(0, 14))

/** Whether the run is there already. Rejects where another request than `asked` made it. */
export async function madeBefore({ log }: Pick<Services, 'log'>, runId: string, asked: string): Promise<boolean> {
  for await (const [first] of log.read(agentStream(runId), { limit: 1, bodies: false })) {
    if (first === undefined) continue
    if (first.header.commandId !== keyedCommand(asked)) throw keyReused()
    return true
  }
  return false
}

/** How long an answer waits for the tables, ms. */
const SHOWN_MS = 2_000

/**
 * Waits until the tables show what was just recorded, so that whoever looks next sees it. Only for a moment: it is
 * recorded, whatever the tables do.
 */
export async function shown({ read }: Pick<Services, 'read'>): Promise<void> {
  await read.caughtUp(SHOWN_MS).catch(() => undefined)
}

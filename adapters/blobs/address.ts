import { LogError } from '../../domain/log/errors.ts'

/** Refuses what is no run id and body hash, so that no address leads elsewhere. Throws `APPEND_INVALID`. */
export function checkAddress(runId: string, hash: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(runId) || !/^[0-9a-f]{64}$/.test(hash))
    throw new LogError('APPEND_INVALID', `"${runId}/${hash}" is no blob address; use a run id and a body hash`)
}

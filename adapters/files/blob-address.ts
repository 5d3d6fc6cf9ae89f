import { LogError } from '../../domain/log/errors.ts'

/** Checks a run id and a body hash, so that no address leads to another file. Throws LogError `APPEND_INVALID`. */
export function checkAddress(runId: string, hash: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(runId) || !/^[0-9a-f]{64}$/.test(hash))
    throw new LogError('APPEND_INVALID', `"${runId}/${hash}" is no blob address; use a run id and a body hash`)
}

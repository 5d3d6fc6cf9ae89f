import type { DriveEnd } from '../../../domain/agent/runtime/types.ts'
import type { RunRow } from '../read-model.ts'

/** How a drive ended; `fault`: it could not go on (a full disk, say), which ended nothing: the run stands where it stood. */
export type Ended = DriveEnd | { readonly end: 'fault'; readonly code: string; readonly message: string }

/** Does a run of this status owe nothing more? */
export const hasEnded = (status: RunRow['status']): boolean => status === 'completed' || status === 'failed'

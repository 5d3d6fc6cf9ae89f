import type { DriveEnd } from '../../../domain/tree/runtime/drive.ts'
import type { RunRow } from '../read-model.ts'

/** The end of a drive. `fault`: the drive failed, for example on a full disk. The state of the run is unchanged. */
export type Ended = DriveEnd | { readonly end: 'fault'; readonly code: string; readonly message: string }

/** Whether a run with this status is finished. */
export const hasEnded = (status: RunRow['status']): boolean => status === 'completed' || status === 'failed'

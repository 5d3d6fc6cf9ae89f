import type { SealedEvent } from '../../log/envelope.ts'

/** The state of a run when its driver has nothing left to do. */
export type DriveEnd =
  | { readonly end: 'done' }
  | { readonly end: 'error'; readonly code: string; readonly error: string }
  | {
      readonly end: 'waiting'
      readonly for: 'input' | 'approval' | 'doubt' | 'pause'
      /** Calls of all agents of the run that wait for a person. */
      readonly toolCallIds: readonly string[]
      /** The waiting agent; absent: the root. */
      readonly agentId?: string
    }
  /** The drive was drained or aborted. Another drive continues. */
  | { readonly end: 'interrupted' }
  | { readonly end: 'overtaken'; readonly epoch: number }

export interface DriveOptions {
  /** Aborts running effects. */
  readonly signal: AbortSignal
  /** Starts nothing new, finishes effects whose intent is recorded, and records their outcomes. */
  readonly drain?: AbortSignal
  /** An error of this callback does not end the drive; the drive rejects with it at its end. */
  readonly onEvent?: (event: SealedEvent) => void
  /** False: rejects with RUN_DRIVEN if another process drives the run. Otherwise the drive waits for that process. */
  readonly waits?: boolean
}

import type { SealedEvent } from '../../domain/log/envelope.ts'
import { ConflictError, LogError, type LogErrorCode } from '../../domain/log/errors.ts'
import type { Erasure } from '../../domain/ports.ts'

/** One append on its way to the writer's thread. */
export interface Job {
  readonly id: number
  readonly stream: string
  readonly expected: number
  readonly batch: readonly SealedEvent[]
  readonly erase: readonly Erasure[]
}

/** A LogError as it crosses the threads. */
export interface Failure {
  readonly code: LogErrorCode
  readonly message: string
  readonly conflict?: { readonly stream: string; readonly expected: number; readonly actual: number }
}

export type Outcome =
  | { readonly id: number; readonly position: number }
  | { readonly id: number; readonly failure: Failure }

export type ToWriter = Job | 'close'

/** `ready`: the time of the log's last event, ms. `failed`: the writer could not open the log and ends. */
export type FromWriter =
  | { readonly ready: number }
  | { readonly failed: Failure }
  | { readonly done: readonly Outcome[] }
  | 'closed'

export function toFailure(error: LogError): Failure {
  const { code, message } = error
  if (!(error instanceof ConflictError)) return { code, message }
  return { code, message, conflict: { stream: error.stream, expected: error.expected, actual: error.actual } }
}

export function fromFailure({ code, message, conflict }: Failure): LogError {
  if (conflict) return new ConflictError(conflict.stream, conflict.expected, conflict.actual, message)
  return new LogError(code, message)
}

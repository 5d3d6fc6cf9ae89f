import { beside, firstMessage } from '../../../../adapters/threads/first-message.ts'
import type { Cursor } from '../../../../domain/log/cursor.ts'
import { LogError, type LogErrorCode } from '../../../../domain/log/errors.ts'
import { type FoldPast, ProjectionError, type ProjectionErrorCode } from '../../../../projections/index.ts'

/** The folders of a data folder that a fold reads. */
interface FoldedFolders {
  readonly log: string
  readonly blobs: string
}

export interface FoldWork extends FoldedFolders {
  readonly file: string
  readonly upTo: Cursor
}

/** The answer of a fold's thread. */
export type Folded = { readonly erasedLater: number } | { readonly failure: Failure }

/** An error as data for another thread. */
type Failure =
  | { readonly of: 'projection'; readonly code: ProjectionErrorCode; readonly message: string }
  | { readonly of: 'log'; readonly code: LogErrorCode; readonly message: string }
  | { readonly of: 'other'; readonly message: string }

export function failureOf(error: unknown): Failure {
  if (error instanceof ProjectionError) return { of: 'projection', code: error.code, message: error.message }
  if (error instanceof LogError) return { of: 'log', code: error.code, message: error.message }
  return { of: 'other', message: error instanceof Error ? error.message : String(error) }
}

function errorOf(failure: Failure): Error {
  if (failure.of === 'projection') return new ProjectionError(failure.code, failure.message)
  return failure.of === 'log' ? new LogError(failure.code, failure.message) : new Error(failure.message)
}

/** Folds in a worker thread, which opens the log as a reader. */
export const foldInThread =
  (folders: FoldedFolders): FoldPast =>
  async (file, upTo, signal = new AbortController().signal) => {
    const work: FoldWork = { ...folders, file, upTo }
    const folded = await firstMessage<Folded>(beside(import.meta.url, 'fold-worker'), work, signal)
    if ('failure' in folded) throw errorOf(folded.failure)
    return folded.erasedLater
  }

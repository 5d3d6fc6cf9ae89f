import { CodedError } from '../../../domain/log/coded-error.ts'

/** The code of an {@link ExportError}. */
export type ExportErrorCode =
  | 'EXPORT_FOREIGN'
  | 'EXPORT_RUNNING'
  | 'EXPORT_SCHEMA'
  | 'EXPORT_BEGUN'
  | 'EXPORT_CHANGED'
  | 'EXPORT_FORMAT'
  | 'EXPORT_BROKEN'
  | 'EXPORT_FILES'

/** An export that is refused. The message contains the remedy. */
export class ExportError extends CodedError<ExportErrorCode> {
  override readonly name = 'ExportError'
}

/** An error as data, for another thread. `code`, `path` and `syscall`: of an error of the file system. */
export interface Failure {
  readonly refused: ExportErrorCode | null
  readonly message: string
  readonly code?: string
  readonly path?: string
  readonly syscall?: string
}

export function failureOf(error: unknown): Failure {
  if (error instanceof ExportError) return { refused: error.code, message: error.message }
  if (!(error instanceof Error)) return { refused: null, message: String(error) }
  const { message, code, path, syscall } = error as NodeJS.ErrnoException
  return {
    ...{ refused: null, message },
    ...(code !== undefined && { code }),
    ...(path !== undefined && { path }),
    ...(syscall !== undefined && { syscall }),
  }
}

/** What to do about errors of the file system. */
const REMEDIES: Readonly<Record<string, (path: string) => string>> = {
  EACCES: (path) => `this user may not write ${path}; change its rights, or name another folder`,
  ENOSPC: (path) => `the disk of ${path} is full; make room, and run the export again: it goes on`,
  EEXIST: (path) => `${path} is a file and no folder; name another folder`,
  ENOTDIR: (path) => `${path} needs a folder where a file is; move the file, or name another folder`,
}

/** The error of a failure. `folder`: of the export. */
export function errorOf({ refused, message, ...file }: Failure, folder: string): Error {
  if (refused !== null) return new ExportError(refused, message)
  const error = Object.assign(new Error(message), file)
  const remedy = REMEDIES[file.code ?? '']
  return remedy === undefined ? error : new ExportError('EXPORT_FILES', remedy(file.path ?? folder), { cause: error })
}

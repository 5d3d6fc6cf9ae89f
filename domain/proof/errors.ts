import { StreamError } from '../stream/errors.ts'

/** Another process has moved the stored tree, so the caller's tree is an older one. */
export const treeMoved = () =>
  new StreamError('TREE_MOVED', 'another process has signed the log at the same moment; try again')

/** Another machine has the key of the log's origin. `why`: what this machine lacks. */
export const keyElsewhere = (why: string) =>
  new StreamError(
    'KEY_ELSEWHERE',
    `${why}; copy the key from the machine that signs, or, if no machine has it any more, begin a new origin with ` +
      '"keepup call rotateLogKey lost=true"',
  )

/** Another process has signed the log or begun its first origin at the same moment. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof StreamError && (error.code === 'TREE_MOVED' || error.code === 'ORIGIN_EXISTS')

export const isKeyElsewhere = (error: unknown): boolean =>
  error instanceof StreamError && error.code === 'KEY_ELSEWHERE'

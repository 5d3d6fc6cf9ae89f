import type { Request } from '../../../domain/runtime/types.ts'

/** What a request says of itself beside its content. */
export interface RequestOptions extends Pick<Request, 'key' | 'trace' | 'correlationId'> {
  /** The revision that the agent must still be at; absent: any. */
  readonly expectedRevision?: number
}

/** The part of the options that the log records with the events. */
export const tracing = ({ trace, correlationId }: RequestOptions): Pick<Request, 'trace' | 'correlationId'> => ({
  ...(trace === undefined ? {} : { trace }),
  ...(correlationId === undefined ? {} : { correlationId }),
})

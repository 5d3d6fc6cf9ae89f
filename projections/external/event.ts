import type { ExternalBodyOf, ExternalEvent, ExternalEventType } from '../../domain/external/events.ts'

/** An event of an external run for the row rules. `body` null: the body was erased without a residue. */
export type ProjectedExternal = {
  readonly [T in ExternalEventType]: Omit<Extract<ExternalEvent, { type: T }>, 'body'> & {
    readonly body: ExternalBodyOf<T> | null
    readonly position: number
    /** The event's time, ISO 8601. */
    readonly time: string
    /** The body was erased: `body` is its residue. */
    readonly erased?: true
  }
}[ExternalEventType]

import type { EventType } from './events.ts'

/** Turns the body of one version into that of the next. Pure. */
export type Upcaster = (body: unknown) => unknown

/** Upcasters by event type and the version they start from. All types are at version 1, so there is none yet. */
export const upcasters: Partial<Record<EventType, Readonly<Record<number, Upcaster>>>> = {}

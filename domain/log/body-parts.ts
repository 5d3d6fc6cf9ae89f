import { z } from 'zod'

// Parts of event bodies. These shapes are the storage format.

/** Any JSON value. Bodies are validated after JSON.parse, so only a missing value is invalid. */
export const AnyJsonValue = z.unknown().refine((value) => value !== undefined, 'expected a value') as z.ZodType<
  z.infer<ReturnType<typeof z.json>>
>
export const text = z.string()
export const count = z.int().nonnegative()
/** A SHA-256 in lower-case hex. */
export const Hash = z.string().regex(/^[0-9a-f]{64}$/)
/** An instant in ISO 8601 with milliseconds. */
export const Instant = z.iso.datetime({ precision: 3 })

/** A recorded event. For a fork of a fork, the stream may be that of either source. */
export const EventPlace = z.strictObject({ stream: z.string().min(1), revision: count })
export type EventPlace = z.infer<typeof EventPlace>

import { z } from 'zod'
import type { EventsOf } from '../stream/emitter.ts'

// Storage format: the events of `thread-<id>`. To change a shape, add a new version and an upcaster; never edit a
// version.

const name = z.string()

/** A serialised value. Exactly one of `text` and `base64` is present. Null in an event: it was erased. */
export const Serialized = z.strictObject({
  type: z.string().min(1),
  text: z.string().optional(),
  base64: z.string().optional(),
})
export type Serialized = z.infer<typeof Serialized>

export const ChannelVersion = z.union([z.string(), z.number()])

export const threadBodies = {
  /** The name that the program gave; again when the thread is used after a deletion or an erasure. Null: it was erased. */
  thread_opened: z.strictObject({ thread: z.string().nullable() }),
  /**
   * `checkpoint`: without the values of its channels. `values`: those of the versions that neither an earlier event of
   * the checkpoint nor one of its parents has. A value with the hash of an earlier one is null, and that one counts.
   * `hash`: SHA-256 over the serialised value; null: erased.
   */
  checkpoint_saved: z.strictObject({
    namespace: name,
    id: name,
    parent: name.nullable(),
    checkpoint: Serialized.nullable(),
    metadata: Serialized.nullable(),
    values: z.array(
      z.strictObject({
        channel: name,
        version: ChannelVersion,
        hash: z.string().nullable(),
        value: Serialized.nullable(),
      }),
    ),
  }),
  /** Writes of a task after a checkpoint. `index`: negative for errors, interrupts and the like. */
  writes_saved: z.strictObject({
    namespace: name,
    checkpoint: name,
    task: name,
    path: z.string(),
    writes: z.array(z.strictObject({ channel: name, index: z.int(), value: Serialized.nullable() })).min(1),
  }),
  /** The thread has no name and no checkpoint any more. An erasure of all earlier bodies follows. */
  thread_deleted: z.strictObject({}),
} as const

export type ThreadEvent = EventsOf<typeof threadBodies>

import { z } from 'zod'
import type { Actor } from '../../../domain/log/envelope.ts'
import { Id } from '../schemas.ts'

/** The place of a person's cursor: a block, and offsets in its text in UTF-16 units. */
const Place = z.strictObject({ block: z.string().max(200), anchor: z.int().min(0), head: z.int().min(0) })

export const Presence = z
  .strictObject({
    client: Id.meta({ description: 'Names one window; the same with each request of it' }),
    place: Place.nullable().meta({ description: 'Where the person writes; null: nowhere' }),
    left: z.boolean().default(false).meta({ description: 'true: the window was closed' }),
  })
  .meta({ id: 'Presence' })
export type Presence = z.infer<typeof Presence>

/** What others get to know. Never stored. */
export interface PersonPresent extends Presence {
  readonly by: Actor
}

/** The time after which a window counts as closed that says nothing, in ms. */
export const PRESENT_MS = 30_000
/** The windows at one document. Those that have said nothing for the longest time are forgotten first. */
const MOST = 200

type Windows = Map<string, { readonly said: PersonPresent; readonly at: number }>

/** Programs of two people can give their windows the same name. */
const nameOf = (by: string, client: string): string => `${by} ${client}`

/** The people who edit documents at present, in this process. */
export class PresenceHub {
  readonly #now: () => number
  readonly #windows = new Map<string, Windows>()
  /** How many streams each window has. */
  readonly #streams = new Map<string, number>()
  readonly #readers = new Map<string, Set<(said: PersonPresent) => void>>()

  /** @param now the time in ms */
  constructor(now: () => number) {
    this.#now = now
  }

  say(documentId: string, said: PersonPresent): void {
    const windows: Windows = this.#windows.get(documentId) ?? new Map()
    const name = nameOf(said.by.id, said.client)
    windows.delete(name)
    if (!said.left) windows.set(name, { said, at: this.#now() })
    for (const [window, { at }] of windows)
      if (windows.size > MOST || this.#now() - at > PRESENT_MS) windows.delete(window)
    if (windows.size === 0) this.#windows.delete(documentId)
    else this.#windows.set(documentId, windows)
    for (const reader of this.#readers.get(documentId) ?? []) reader(said)
  }

  /**
   * Notes a stream of a window. Call the returned function at its end: the window is closed when none of its streams is
   * open.
   *
   * @param by the id of the principal; null: anybody, because access is off
   */
  open(documentId: string, client: string, by: string | null): () => void {
    const stream = `${documentId} ${by ?? ''} ${client}`
    this.#streams.set(stream, (this.#streams.get(stream) ?? 0) + 1)
    return () => {
      const left = (this.#streams.get(stream) ?? 1) - 1
      if (left > 0) {
        this.#streams.set(stream, left)
        return
      }
      this.#streams.delete(stream)
      for (const { said } of [...(this.#windows.get(documentId)?.values() ?? [])])
        if (said.client === client && (by === null || said.by.id === by))
          this.say(documentId, { ...said, place: null, left: true })
    }
  }

  /** Calls the reader with the last presence of each window, then with each new one. The returned function ends it. */
  listen(documentId: string, reader: (said: PersonPresent) => void): () => void {
    for (const { said, at } of this.#windows.get(documentId)?.values() ?? [])
      if (this.#now() - at <= PRESENT_MS) reader(said)
    const readers = this.#readers.get(documentId) ?? new Set()
    this.#readers.set(documentId, readers.add(reader))
    return () => {
      readers.delete(reader)
      if (readers.size === 0 && this.#readers.get(documentId) === readers) this.#readers.delete(documentId)
    }
  }
}

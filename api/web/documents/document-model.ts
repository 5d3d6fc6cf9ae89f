import { signal } from '@preact/signals'
import { take } from '../../http/answers.ts'
import type { DocumentEntry, DocumentView } from '../../operations/document/schemas.ts'
import type { EventView } from '../../operations/events/schemas.ts'
import { api, errorText, send } from '../client/api.ts'
import { Throttle } from '../parts/throttle.ts'

const PAGE = 500
const PAUSE = 250

/** The requests to a document in the order of their revisions, with new ones as they arrive. */
export class DocumentModel {
  readonly documentId: string
  readonly entries = signal<readonly DocumentEntry[]>([])
  readonly fault = signal('')
  /** Empty: not yet read. It never changes. */
  readonly title = signal('')
  readonly #throttle = new Throttle(() => this.read(), PAUSE)
  #reading = false

  constructor(documentId: string) {
    this.documentId = documentId
    void this.read()
    void this.#readTitle()
  }

  async #readTitle(): Promise<void> {
    // The first revision has no blocks.
    const answer = await send(`/v1/documents/${encodeURIComponent(this.documentId)}?revision=0`).catch(() => null)
    if (answer?.ok) this.title.value = ((await answer.json()) as DocumentView).title
  }

  /** Reads the entries after the last known one. */
  async read(): Promise<void> {
    if (this.#reading) return this.#throttle.request()
    this.#reading = true
    try {
      for (;;) {
        const last = this.entries.value.at(-1)?.revision
        const query = { limit: String(PAGE), ...(last === undefined ? {} : { after: String(last) }) }
        const page = await take(api.v1.documents[':id'].history.$get({ param: { id: this.documentId }, query }))
        this.entries.value = [...this.entries.value, ...page.entries]
        this.fault.value = ''
        if (page.next === null) return
      }
    } catch (error) {
      this.fault.value = errorText(error)
    } finally {
      this.#reading = false
    }
  }

  hear({ stream }: Pick<EventView, 'stream'>): void {
    if (stream === `document-${this.documentId}`) this.#throttle.request()
  }

  end(): void {
    this.#throttle.stop()
  }
}

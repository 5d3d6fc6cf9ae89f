import { signal } from '@preact/signals'
import type { EventView } from '../../../operations/events/schemas.ts'
import type { MessageList, MessageView } from '../../../operations/messages/schemas.ts'
import { Throttle } from '../../parts/throttle.ts'

/** Messages of a page of the API. */
export const PAGE = 500
/** From an event to the request for new messages, in ms. */
const PAUSE = 250
/** The events that first record a message. */
const RECORDS = /^message_(?:sent|published|distributed|received)$/

/** Reads the messages after a cursor; undefined: the first ones. */
type Read = (after: string | undefined) => Promise<MessageList>

interface Shown {
  readonly messages: readonly MessageView[]
  /** False: more messages follow, which {@link FamilyMessages.readMore} reads. */
  readonly isAll: boolean
}

const NONE: Shown = { messages: [], isAll: true }

/** The first messages between the agents of a run. Follows the run's events, and reads only new messages. */
export class FamilyMessages {
  readonly shown = signal(NONE)
  /** The error of the last failed request. */
  readonly fault = signal('')
  readonly #read: Read
  readonly #errorText: (error: unknown) => string
  readonly #throttle = new Throttle(() => this.#load(), PAUSE)
  #after: string | undefined
  #most = PAGE
  #anew = false
  /** The recipients whose receipts came as events, by message. */
  readonly #receipts = new Map<string, string[]>()

  constructor(read: Read, errorText: (error: unknown) => string) {
    this.#read = read
    this.#errorText = errorText
    this.#throttle.request()
  }

  /** Takes an event of the run. */
  hear(event: EventView): void {
    if (!RECORDS.test(event.type)) return
    this.#throttle.request()
    if (event.type !== 'message_received' || event.payload === null) return
    const { id } = event.payload
    this.#receipts.set(id, [...(this.#receipts.get(id) ?? []), event.stream.slice('agent-'.length)])
  }

  /** Reads all of them again, because events may have been missed. */
  again(): void {
    this.#anew = true
    this.#throttle.request()
  }

  /** Shows ten times as many. */
  readMore(): void {
    this.#most = 10 * this.#most
    this.#throttle.request()
  }

  end(): void {
    this.#throttle.stop()
  }

  async #load(): Promise<void> {
    const anew = this.#anew
    let { messages, isAll } = anew ? NONE : this.shown.peek()
    if (anew) this.#after = undefined
    this.#anew = false
    try {
      while (isAll || messages.length < this.#most) {
        const page = await this.#read(this.#after)
        messages = [...messages, ...page.messages]
        isAll = page.next === null
        this.#after = page.next ?? page.position ?? undefined
        if (isAll) break
      }
      this.fault.value = ''
    } catch (error) {
      this.fault.value = this.#errorText(error)
      // The messages of before stay until all of them have been read again. `again` may have been called meanwhile.
      this.#anew ||= anew
      if (anew) return
    }
    const received = ({ id, receivedBy, ...message }: MessageView): MessageView => {
      const late = this.#receipts.get(id)?.filter((agentId) => !receivedBy.includes(agentId)) ?? []
      return { ...message, id, receivedBy: [...receivedBy, ...late] }
    }
    this.shown.value = { messages: this.#receipts.size === 0 ? messages : messages.map(received), isAll }
  }
}

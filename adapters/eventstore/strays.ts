import type { AllStreamRecordedEvent } from '@eventstore/db-client'
import { isStreamDamage, type OnDamage } from '../../domain/log/damage.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { LOG_META } from '../../domain/log/ids.ts'
import { KINDS, kindOf } from '../../domain/log/owner.ts'
import { damageOf, decode, nameOf, shown } from './codec.ts'

/** So many streams are told of by name. */
const TOLD = 100

/** Is that the name of a stream of keepup's? */
export const isOwnName = (stream: string): boolean => stream === LOG_META || KINDS.includes(kindOf(stream))

/**
 * Content in streams of the namespace that is no event of ours: written by another program, altered, or the end that an
 * operator set to a stream. Readers of the whole log pass it over, so that one such event does not end a deployment, and it
 * is told once per stream; a reader of that very stream is refused by name.
 */
export class Strays {
  readonly #namespace: string
  readonly #tell: (text: string) => void
  readonly #told = new Set<string>()

  constructor(namespace: string, tell: (text: string) => void) {
    this.#namespace = namespace
    this.#tell = tell
  }

  /** The event, where it is one of ours; null: it was passed over. `onDamage` hears of it where the stream is one of ours. */
  own(event: AllStreamRecordedEvent, onDamage?: OnDamage): RecordedEvent | null {
    const stream = event.streamId.slice(nameOf(this.#namespace, '').length)
    if (!isOwnName(stream)) {
      this.#once(stream, 'it is no stream of keepup’s; let what writes there use a name that does not begin like that')
      return null
    }
    try {
      return decode(this.#namespace, event)
    } catch (error) {
      if (!isStreamDamage(error)) throw error
      onDamage?.(damageOf(event, stream, error))
      this.#once(stream, `${error.message}. What is recorded in that stream cannot be gone on with`)
      return null
    }
  }

  #once(stream: string, why: string): void {
    if (this.#told.size >= TOLD || this.#told.has(stream)) return
    this.#told.add(stream)
    const more = this.#told.size === TOLD ? '; further streams are not named' : ''
    this.#tell(`an event in ${shown(nameOf(this.#namespace, stream))} is passed over: ${why}${more}`)
  }
}

import type { AllStreamRecordedEvent } from '@eventstore/db-client'
import { isKind } from '../../domain/kinds.ts'
import { isStreamDamage, type OnDamage } from '../../domain/log/damage.ts'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { LOG_META } from '../../domain/log/ids.ts'
import { kindOf } from '../../domain/log/owner.ts'
import { damageOf, decode, printableName, storedStreamName } from './codec.ts'

/** The most streams to name in warnings. */
const TOLD = 100

/** Whether this is the name of one of keepup's streams. */
export const isOwnName = (stream: string): boolean => stream === LOG_META || isKind(kindOf(stream))

/**
 * Events in the namespace's streams that keepup cannot use: written by another program, altered, or a tombstone.
 * Readers of the whole log skip them, with one warning per stream, so that one such event does not stop a deployment. A
 * read of the stream itself rejects.
 */
export class Strays {
  readonly #namespace: string
  readonly #tell: (text: string) => void
  readonly #told = new Set<string>()

  constructor(namespace: string, tell: (text: string) => void) {
    this.#namespace = namespace
    this.#tell = tell
  }

  /**
   * The decoded event; null if it was skipped. `onDamage` gets the damage if the stream is one of keepup's. `everyKind`:
   * streams of unknown kinds count as keepup's.
   */
  own(event: AllStreamRecordedEvent, onDamage?: OnDamage, everyKind = false): RecordedEvent | null {
    const stream = event.streamId.slice(storedStreamName(this.#namespace, '').length)
    if (!everyKind && !isOwnName(stream)) {
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
    this.#tell(`an event in ${printableName(storedStreamName(this.#namespace, stream))} is passed over: ${why}${more}`)
  }
}

import type { AllStreamRecordedEvent } from '@eventstore/db-client'
import type { RecordedEvent } from '../../domain/log/envelope.ts'
import { LogError } from '../../domain/log/errors.ts'
import { agentStream, LOG_META } from '../../domain/log/ids.ts'
import { decode, nameOf, shown } from './codec.ts'

/** So many streams are told of by name. */
const TOLD = 100
const KINDS = [agentStream(''), 'document-', 'external-']

/** Is that the name of a stream of keepup's? */
export const isOwnName = (stream: string): boolean =>
  stream === LOG_META || KINDS.some((kind) => stream.startsWith(kind))

/**
 * What others wrote into streams of the namespace. Whoever follows the whole log passes it over, so that one stray event
 * does not end a deployment, and it is told, once per stream; whoever reads that very stream is refused by name.
 */
export class Strays {
  readonly #namespace: string
  readonly #tell: (text: string) => void
  readonly #told = new Set<string>()

  constructor(namespace: string, tell: (text: string) => void) {
    this.#namespace = namespace
    this.#tell = tell
  }

  /** The event, where it is one of ours; null: it was passed over. Throws what `decode` throws but for `LOG_FOREIGN`. */
  own(event: AllStreamRecordedEvent): RecordedEvent | null {
    const stream = event.streamId.slice(nameOf(this.#namespace, '').length)
    if (!isOwnName(stream)) {
      this.#once(stream, 'it is no stream of keepup’s; let what writes there use a name that does not begin like that')
      return null
    }
    try {
      return decode(this.#namespace, event)
    } catch (error) {
      if (!(error instanceof LogError && error.code === 'LOG_FOREIGN')) throw error
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

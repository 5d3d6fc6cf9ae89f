import { keptName } from '../../../domain/calls/answer-bounds.ts'
import { ArgumentText, type Meter } from '../answer-meter.ts'
import { type Fields, fields } from '../fields.ts'

/** A call whose parts are still arriving. */
interface OpenCall {
  id: string
  name: string
  json: ArgumentText
}

/**
 * Assembles streamed tool calls. The protocol identifies a call by its index. Some servers omit the index, or give
 * every call the index 0. In these cases a new id or a new name starts a new call.
 */
export class OpenCalls {
  readonly list: OpenCall[] = []
  private readonly byIndex = new Map<number, OpenCall>()
  private readonly meter: Meter

  constructor(meter: Meter) {
    this.meter = meter
  }

  take(delta: Fields): void {
    const made = fields(delta.function)
    const id = typeof delta.id === 'string' ? delta.id : ''
    const name = typeof made.name === 'string' ? made.name : ''
    const index = typeof delta.index === 'number' ? delta.index : null
    const call = this.find(index, id, name) ?? this.begin(index)
    call.id ||= keptName(id)
    call.name ||= keptName(name)
    if (made.arguments === undefined || made.arguments === null) return
    const whole = typeof made.arguments !== 'string'
    const text = typeof made.arguments === 'string' ? made.arguments : JSON.stringify(made.arguments)
    this.meter.take(text)
    if (whole) call.json = new ArgumentText()
    call.json.take(text)
  }

  private find(index: number | null, id: string, name: string): OpenCall | undefined {
    const known = index === null ? this.list.at(-1) : this.byIndex.get(index)
    if (!known) return undefined
    const another = id !== '' && known.id !== '' && keptName(id) !== known.id
    const unnumbered = index === null && id === '' && name !== ''
    return another || unnumbered ? undefined : known
  }

  private begin(index: number | null): OpenCall {
    this.meter.call()
    const call = { id: '', name: '', json: new ArgumentText() }
    this.list.push(call)
    if (index !== null) this.byIndex.set(index, call)
    return call
  }
}

import type { OutlineView } from '../../operations/history/outline-schemas.ts'
import { Conversation } from './conversation.ts'

/** The event types that complete a step. */
const STEPS: ReadonlySet<string> = new Set(['tool_call_end', 'turn_end'])

/** A model call or a tool call. `from` and `to` are revisions. `to` null: the call has not ended. */
interface Work {
  readonly kind: 'model' | 'tool'
  readonly turn: number
  readonly from: number
  readonly to: number | null
  readonly failed: boolean
}

type Part = Pick<
  OutlineView,
  'from' | 'inherited' | 'names' | 'types' | 'turns' | 'times' | 'calls' | 'sizes' | 'failed'
>

/** An agent's events by revision, without bodies, with the step, turn and call at each. New events extend it. */
export class Outline {
  readonly types: string[] = []
  readonly times: number[] = []
  readonly calls: number[] = []
  readonly sizes: number[] = []
  /** The turn and the step after each event. */
  readonly turns: number[] = []
  readonly steps: number[] = []
  /** The revisions that complete steps and that begin turns, in ascending order. */
  readonly stepAt: number[] = []
  readonly turnAt: number[] = []
  readonly conversation = new Conversation()
  readonly work: Work[] = []
  /** Ascending revisions by event type. */
  readonly #ofType = new Map<string, number[]>()
  readonly #open = new Map<string, number>()
  #firstStep = 0

  get length(): number {
    return this.types.length
  }

  /** Adds the next part. Ignores known events. False: the part does not follow directly, so nothing was added. */
  add(part: Part): boolean {
    if (part.from > this.length) return false
    if (this.length === 0) this.#firstStep = part.inherited?.step ?? 0
    const failed = new Set(part.failed)
    for (let i = this.length - part.from; i < part.types.length; i++) {
      const type = part.names[part.types[i]!] ?? ''
      this.#push(type, part.turns[i]!, part.times[i]!, part.calls[i]!, part.sizes[i]!)
      this.#work(type, part.calls[i]!, failed.has(part.from + i))
    }
    return true
  }

  /** The revision that completes a step, or the nearest such revision. */
  ofStep(step: number): number {
    return nearest(this.stepAt, step - this.#firstStep - 1)
  }

  /** The revision that begins a turn, or the nearest such revision. */
  ofTurn(turn: number): number {
    return nearest(this.turnAt, turn - (this.turns[this.turnAt[0] ?? 0] ?? 1))
  }

  ofType(type: string): readonly number[] {
    return this.#ofType.get(type) ?? []
  }

  /** The last revision up to `to` (inclusive) of one of these types. Null: none. */
  lastOf(types: readonly string[], to: number): number | null {
    const found = types.flatMap((type) => {
      const places = this.ofType(type)
      return places[after(places, to) - 1] ?? []
    })
    return found.length === 0 ? null : Math.max(...found)
  }

  /** The revision after a move by events, steps or turns. Clamped to the agent's history. */
  moved(from: number, by: number, what: 'event' | 'step' | 'turn'): number {
    const last = Math.max(0, this.length - 1)
    if (what === 'event') return Math.min(last, Math.max(0, from + by))
    const places = what === 'step' ? this.stepAt : this.turnAt
    if (by > 0) return places[after(places, from) + by - 1] ?? last
    return places[after(places, from - 1) + by] ?? 0
  }

  #push(type: string, turn: number, time: number, call: number, size: number): void {
    const revision = this.length
    const before = this.turns[revision - 1] ?? 0
    const step = this.steps[revision - 1] ?? this.#firstStep
    this.types.push(type)
    this.times.push(time)
    this.calls.push(call)
    this.sizes.push(size)
    this.turns.push(Math.max(before, turn))
    this.steps.push(STEPS.has(type) ? step + 1 : step)
    const alike = this.#ofType.get(type)
    if (alike === undefined) this.#ofType.set(type, [revision])
    else alike.push(revision)
    if (STEPS.has(type)) this.stepAt.push(revision)
    if (type === 'turn_start') this.turnAt.push(revision)
    this.conversation.add(type, revision, this.turns[revision]!, call)
  }

  /** Adds the last event to the calls. `failed`: it is the end of a failed call. */
  #work(type: string, call: number, failed: boolean): void {
    const revision = this.length - 1
    const turn = this.turns[revision]!
    const kind = type.startsWith('model_') ? 'model' : 'tool'
    const key = kind === 'model' ? `${turn}` : `${turn}.${call}`
    if (type === 'model_call_start' || type === 'tool_call_start') {
      this.#open.set(key, this.work.push({ kind, turn, from: revision, to: null, failed: false }) - 1)
    } else if (/^(?:model_call_end|model_attempt_lost|tool_call_end)$/.test(type)) {
      const at = this.#open.get(key)
      this.#open.delete(key)
      if (at !== undefined)
        this.work[at] = { ...this.work[at]!, to: revision, failed: failed || type === 'model_attempt_lost' }
    }
  }
}

const nearest = (places: readonly number[], at: number): number =>
  places[Math.min(places.length - 1, Math.max(0, at))] ?? 0

/** The count of ascending numbers that are at most `value`. */
export function after(numbers: readonly number[], value: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! <= value) low = middle + 1
    else high = middle
  }
  return low
}

/** Parses a typed position: `120` an event, `s12` a step, `t4` a turn, `end`. Null: not valid. */
export function parsePosition(outline: Outline, text: string): number | 'end' | null {
  const [, what, digits] = /^\s*([st#@]?)\s*(\d{1,9})\s*$/i.exec(text) ?? []
  if (digits === undefined) return /^\s*(?:end|live)\s*$/i.test(text) ? 'end' : null
  const number = Number(digits)
  if (what?.toLowerCase() === 's') return number === 0 ? 0 : outline.ofStep(number)
  if (what?.toLowerCase() === 't') return outline.ofTurn(number)
  return Math.min(Math.max(0, outline.length - 1), number)
}

import { hash } from 'node:crypto'

// The form of a digest is part of the storage format.

/** How a kind's digests cover its state. */
export interface DigestView<State extends object> {
  /** The covered members. */
  readonly members: readonly (keyof State & string)[]
  /**
   * Initial values. The digest omits a member that has its initial value, so that a new member leaves older digests
   * valid.
   */
  readonly initial: Partial<State>
  /** The covered part of a member, for members that are not covered whole. */
  readonly shown: { readonly [K in keyof State]?: (value: NonNullable<State[K]>) => unknown }
  /**
   * Members that nearly every event changes. Caching their text costs more than writing it, mostly in garbage
   * collection.
   */
  readonly fleeting?: ReadonlySet<keyof State>
}

/** A digest covers texts of members up to this length verbatim, and longer ones by their hash. UTF-16 code units. */
const LONGEST_TEXT = 1024

/** Computes the digests of one kind of state. Parts of a state are immutable, because their texts are cached. */
export class StateDigest<State extends object> {
  readonly #view: DigestView<State>
  readonly #members: readonly (keyof State & string)[]
  readonly #labels: readonly string[]
  readonly #initial: readonly string[]
  /** What a digest covers of each value; null: the member is fleeting. */
  readonly #covered: readonly (WeakMap<object, string> | null)[]

  constructor(view: DigestView<State>) {
    const members = [...view.members].sort()
    this.#view = view
    this.#members = members
    this.#labels = members.map((name) => `${JSON.stringify(name)}:`)
    this.#initial = members.map((name) => (view.initial[name] === undefined ? '' : stable(view.initial[name])))
    this.#covered = members.map((name) => (view.fleeting?.has(name) ? null : new WeakMap()))
  }

  /**
   * Hex SHA-256 over `label` and the members in order of their names: the JSON text of each, with sorted keys, or `#` and
   * the hex SHA-256 of a longer text. The hash of a large member is computed only when the member has changed.
   */
  byHashes(state: State, label: string): string {
    return this.#digest(state, label, (i, value) => this.#coveredOf(i, value))
  }

  /** Like {@link byHashes}, but covers the texts of all members, however long: the form of earlier digests. */
  byTexts(state: State, label: string): string {
    return this.#digest(state, label, (i, value) => this.#textOf(i, value))
  }

  #digest(state: State, label: string, covered: (i: number, value: unknown) => string): string {
    let view = `${label}\n{`
    let separator = ''
    for (let i = 0; i < this.#members.length; i++) {
      const name = this.#members[i]!
      const value = state[name] as unknown
      if (value === undefined || value === this.#view.initial[name]) continue
      const text = covered(i, value)
      if (text === this.#initial[i]) continue
      view += separator + this.#labels[i] + text
      separator = ','
    }
    return hash('sha256', `${view}}`)
  }

  #coveredOf(i: number, value: unknown): string {
    const cache = this.#covered[i]
    if (cache === null || value === null || typeof value !== 'object') return short(this.#textOf(i, value))
    const known = cache!.get(value)
    if (known !== undefined) return known
    const text = short(this.#textOf(i, value))
    cache!.set(value, text)
    return text
  }

  #textOf(i: number, value: unknown): string {
    const shown = value === null ? undefined : this.#view.shown[this.#members[i]!]
    const part = shown === undefined ? value : shown(value as never)
    return this.#covered[i] === null ? stable(part) : stable(part, cachedText)
  }
}

const short = (text: string): string => (text.length > LONGEST_TEXT ? `#${hash('sha256', text)}` : text)

/** JSON with sorted keys, sufficient because states are plain JSON. `part`: writes each item or member. */
function stable(value: unknown, part: (value: unknown) => string = stable): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return `${value}`
  if (typeof value !== 'object') return JSON.stringify(value)
  return Array.isArray(value) ? stableArray(value, part) : stableRecord(value as Record<string, unknown>, part)
}

/** Cached text of parts of members. A decision changes only one of many entries, for example in the courier's records. */
const texts = new WeakMap<object, string>()

function cachedText(value: unknown): string {
  if (value === null || typeof value !== 'object') return stable(value)
  const known = texts.get(value)
  if (known !== undefined) return known
  const text = stable(value, cachedText)
  texts.set(value, text)
  return text
}

function stableArray(items: readonly unknown[], part: (value: unknown) => string): string {
  let text = ''
  for (const item of items) text += (text === '' ? '' : ',') + part(item)
  return `[${text}]`
}

function stableRecord(record: Readonly<Record<string, unknown>>, part: (value: unknown) => string): string {
  let text = ''
  for (const key of Object.keys(record).sort())
    if (record[key] !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${part(record[key])}`
  return `{${text}}`
}

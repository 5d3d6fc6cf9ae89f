import { signal } from '@preact/signals'
import { Refused, take } from '../../http/answers.ts'
import { api, errorText } from '../client/api.ts'

type Heads = Awaited<ReturnType<typeof verifiedHeads>>

/** The result for one stream. `anchored`, `recorded`, `signed`, `chained`: parts of its events; null: not known. */
export interface VerifiedStream {
  readonly stream: string
  readonly ok: boolean
  readonly events: number
  readonly anchored: number | null
  readonly recorded: number | null
  readonly signed: number | null
  readonly chained: number | null
  readonly erased: number
  /** With their revisions. */
  readonly problems: readonly string[]
}

const PAGE = '500'

/** Verifies the heads, keys and anchors of the log, then the tables, then one stream after the other until stopped. */
export class Verifier {
  readonly state = signal<'idle' | 'works' | 'done' | 'stopped'>('idle')
  readonly heads = signal<Heads | null>(null)
  /** Rows of the tables that differ from the log. */
  readonly tables = signal<readonly string[]>([])
  readonly streams = signal<readonly VerifiedStream[]>([])
  /** Null: not known yet. */
  readonly total = signal<number | null>(null)
  readonly fault = signal('')
  #over = false

  stop(): void {
    this.#over = true
  }

  /** `anchors`: also asks the anchors what they hold now. */
  async verify(anchors: boolean): Promise<void> {
    if (this.state.value === 'works') return
    this.#over = false
    this.heads.value = null
    this.tables.value = []
    this.streams.value = []
    this.total.value = null
    this.fault.value = ''
    this.state.value = 'works'
    try {
      this.heads.value = await verifiedHeads(anchors)
      this.tables.value = (await take(api.v1.verify.$get({}))).problems.map(({ message }) => message)
      const names = await this.#names()
      this.total.value = names.length
      for (const name of names) {
        if (this.#over) break
        this.streams.value = [...this.streams.value, await verifiedStream(name)]
      }
    } catch (error) {
      this.fault.value = errorText(error)
    }
    this.state.value = this.#over || this.fault.value !== '' ? 'stopped' : 'done'
  }

  async #names(): Promise<string[]> {
    const names: string[] = []
    for (let after: string | null | undefined; after !== null && !this.#over; ) {
      const query = { limit: PAGE, ...(after === undefined ? {} : { after }) }
      const page: { streams: readonly { stream: string }[]; next: string | null } = await take(
        api.v1.streams.$get({ query }),
      )
      names.push(...page.streams.map(({ stream }) => stream))
      after = page.next
    }
    return names
  }
}

const verifiedHeads = (anchors: boolean) =>
  take(api.v1.proof.verify.$get({ query: { anchors: anchors ? 'true' : 'false' } }))

/** An unreadable stream counts as broken, and the verification continues. */
async function verifiedStream(stream: string): Promise<VerifiedStream> {
  try {
    const found = await take(api.v1.streams[':stream'].verify.$get({ param: { stream } }))
    const { ok, events, erased, problems, proof } = found
    return {
      ...{ stream, ok, events, erased: erased.length },
      anchored: proof?.anchored.events ?? null,
      recorded: proof?.recorded.events ?? null,
      signed: proof?.signed.events ?? null,
      chained: proof?.chained.events ?? null,
      problems: [
        ...problems.map(({ revision, code, message }) => `${stream}@${revision} ${code}: ${message}`),
        ...(proof?.fault && !proof.elsewhere ? [`${stream} HEAD: ${proof.fault}`] : []),
      ],
    }
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error
    const unknown = { anchored: null, recorded: null, signed: null, chained: null, erased: 0 }
    return { stream, ok: false, events: 0, ...unknown, problems: [`${stream}: ${errorText(error)}`] }
  }
}

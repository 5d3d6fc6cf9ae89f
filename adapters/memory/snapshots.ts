import type { Snapshot, SnapshotStore } from '../../domain/ports/index.ts'

/** The snapshots of one stream and version of the fold that are kept. The oldest go first. */
const MOST = 20

/** Folded states in memory. The store keeps states as JSON, so callers cannot change them. */
export class MemorySnapshots implements SnapshotStore {
  readonly #stored = new Map<string, { readonly revision: number; readonly step: number; readonly text: string }[]>()

  async latest(stream: string, fold: number, upTo: { revision?: number; step?: number }): Promise<Snapshot | null> {
    const { revision = Number.POSITIVE_INFINITY, step = Number.POSITIVE_INFINITY } = upTo
    const found = this.#stored.get(keyOf(stream, fold))?.findLast((one) => one.revision <= revision && one.step <= step)
    return found === undefined ? null : { revision: found.revision, step: found.step, state: JSON.parse(found.text) }
  }

  async put(stream: string, fold: number, { revision, step, state }: Snapshot): Promise<void> {
    const others = (this.#stored.get(keyOf(stream, fold)) ?? []).filter((one) => one.revision !== revision)
    const kept = [...others, { revision, step, text: JSON.stringify(state) }].sort((a, b) => a.revision - b.revision)
    this.#stored.set(keyOf(stream, fold), kept.slice(-MOST))
  }

  async clear(): Promise<void> {
    this.#stored.clear()
  }
}

const keyOf = (stream: string, fold: number): string => `${fold} ${stream}`

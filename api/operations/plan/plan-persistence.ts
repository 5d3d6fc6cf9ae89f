import { KeyedMutex } from '../../../domain/stream/runtime/concurrency.ts'
import type { ArtifactRow, ReadModel } from '../read-model.ts'

/** A version of an agent's plan: an artifact of type `plan`. `content` null: erased. */
export interface PlanVersion {
  readonly agentId: string
  /** Counted from 1 for each agent. */
  readonly version: number
  readonly artifactId: string
  readonly title: string | null
  readonly content: string | null
  readonly createdAt: string
  /** The path of the file. Null: this process writes no files, or failed to write this one. */
  readonly file: string | null
}

/** The storage of plans as files. */
export interface PlanStore {
  path(runId: string, name: string): string
  /** Writes this text to the file. An empty text empties it. */
  write(runId: string, name: string, text: string): Promise<void>
}

type Told = { readonly type: string; readonly runId?: string | undefined }

/**
 * PlanPersistence (seed 000, section 4): each version of a plan is an event, and a file next to the log for people. The
 * files match the log, with secrets replaced. A missing file is written again, and the file of an erased plan is
 * emptied.
 */
export class PlanPersistence {
  readonly #read: Pick<ReadModel, 'artifacts' | 'caughtUp'>
  readonly #store: PlanStore | null
  readonly #onFault: (runId: string, error: unknown) => void
  readonly #atWork = new Set<Promise<unknown>>()
  /** By run. Content read before an erasure must not be written after it. */
  readonly #writing = new KeyedMutex()

  constructor(
    read: Pick<ReadModel, 'artifacts' | 'caughtUp'>,
    store: PlanStore | null,
    onFault: (runId: string, error: unknown) => void,
  ) {
    this.#read = read
    this.#store = store
    this.#onFault = onFault
  }

  /**
   * Called for each recorded event. Writes the plans of a run soon after an event that may be a plan. A failed write
   * does not fail the run.
   */
  heard({ type, runId }: Told): void {
    if (this.#store === null || type !== 'artifact_registered' || runId === undefined) return
    const kept = this.keep(runId)
      .catch((error) => this.#onFault(runId, error))
      .finally(() => this.#atWork.delete(kept))
    this.#atWork.add(kept)
  }

  /** Resolves when all pending writes have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#atWork)
  }

  /** The versions of a run's plans, the oldest first. Updates each file from the log. */
  keep(runId: string): Promise<readonly PlanVersion[]> {
    return this.#writing.run(runId, () => this.#keep(runId))
  }

  async #keep(runId: string): Promise<readonly PlanVersion[]> {
    await this.#read.caughtUp()
    const versions: PlanVersion[] = []
    const counts = new Map<string, number>()
    for await (const { artifact, agentId, createdAt } of this.#plansOf(runId)) {
      const version = (counts.get(agentId) ?? 0) + 1
      counts.set(agentId, version)
      const name = `${agentId}-v${version}.md`
      const { id: artifactId, title = null, content = null } = artifact
      const plan = { agentId, version, artifactId, title, content, createdAt }
      versions.push({ ...plan, file: await this.#written(runId, name, textOf(plan)) })
    }
    return versions
  }

  /** Empties the files of erased plans. Rejects if that fails for a file, because it still contains the plan. */
  async empty(runId: string): Promise<void> {
    const left = (await this.keep(runId)).filter(({ content, file }) => content === null && file === null)
    if (this.#store === null || left.length === 0) return
    const names = left.map(({ agentId, version }) => `${agentId}-v${version}.md`).join(', ')
    throw new Error(`the erasure is recorded, but ${names} could not be emptied; remove it, or ask for the plans again`)
  }

  /** The event is authoritative. A failed write is reported, and the plan is shown without a file. */
  async #written(runId: string, name: string, text: string): Promise<string | null> {
    if (this.#store === null) return null
    try {
      await this.#store.write(runId, name, text)
      return this.#store.path(runId, name)
    } catch (error) {
      const why = `the plan ${name} is not kept as a file: ${(error as Error).message}`
      this.#onFault(runId, new Error(why, { cause: error }))
      return null
    }
  }

  async *#plansOf(runId: string): AsyncIterable<ArtifactRow> {
    for (let after: string | undefined; ; ) {
      const { value } = await this.#read.artifacts({ runId, limit: 100, ...(after === undefined ? {} : { after }) })
      yield* value.artifacts.filter(({ artifact, registeredWith, agentId }) => {
        // The parent's artifacts include the children's plans.
        return artifact.type === 'plan' && registeredWith !== agentId
      })
      if (value.next === null) return
      after = value.next
    }
  }
}

function textOf({ agentId, version, title, content, createdAt, artifactId }: Omit<PlanVersion, 'file'>): string {
  if (content === null) return ''
  const about = `Version ${version} of the plan of ${agentId}, ${createdAt}, artifact ${artifactId}.`
  return `# ${title ?? 'Plan'}\n\n${about}\n\n${content.trimEnd()}\n`
}

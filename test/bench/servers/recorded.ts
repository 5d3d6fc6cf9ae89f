import { MemoryLog } from '../../../adapters/memory/log.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { Runtime } from '../../../domain/agent/runtime/runtime.ts'
import type { SealedEvent } from '../../../domain/log/envelope.ts'
import type { ModelProvider } from '../../../domain/ports/index.ts'
import { MemoryBlobs } from '../../support/harness.ts'
import { NO_SECRETS } from '../../support/secrets/no-secrets.ts'
import { benchModel, benchSpec, readFile } from '../agent.ts'

/** An append as a run has made it. */
export interface Append {
  readonly stream: string
  readonly expected: number
  readonly batch: readonly SealedEvent[]
}

class Taped extends MemoryLog {
  readonly appends: Append[] = []
  override append(...[stream, expected, batch]: Parameters<MemoryLog['append']>) {
    this.appends.push({ stream, expected, batch })
    return super.append(stream, expected, batch)
  }
}

/** The appends of one run of so many turns, as the runtime makes them. Every run has a stream of its own. */
export async function recordRun(turns: number): Promise<Append[]> {
  const log = new Taped()
  const tool = readFile()
  const model: ModelProvider = benchModel(turns)
  const runtime = new Runtime({
    log,
    blobs: new MemoryBlobs(),
    clock: { now: Date.now, sleep: () => new Promise<void>(() => undefined) },
    random: systemRandom,
    build: 'bench',
    feed: { publish: () => undefined },
    provider: () => model,
    hasTool: (name) => name === tool.spec.name,
    secrets: async () => NO_SECRETS,
    environment: async () => ({
      workspace: null,
      sandbox: null,
      tool: (name) => (name === tool.spec.name ? tool : undefined),
      secrets: NO_SECRETS,
      reap: async () => undefined,
      close: async () => undefined,
    }),
  })
  const runId = runtime.newRunId()
  const by = { kind: 'user', id: 'bench', claimed: true } as const
  await runtime.execute(runId, { kind: 'start', spec: benchSpec(turns), task: 'Read the files.' }, { by })
  const { end } = await runtime.drive(runId, { signal: new AbortController().signal })
  if (end !== 'done') throw new Error(`the recorded run did not complete: ${end}`)
  return log.appends
}

export const eventsOf = (appends: readonly Append[]): number =>
  appends.reduce((sum, { batch }) => sum + batch.length, 0)

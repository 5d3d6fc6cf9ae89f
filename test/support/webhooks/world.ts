import { join } from 'node:path'
import { MemoryLog } from '../../../adapters/memory/log.ts'
import { SqlitePositions } from '../../../adapters/sqlite/positions.ts'
import type { ParkedRow } from '../../../api/operations/read-model.ts'
import { ConfigSchema } from '../../../api/process/config/settings.ts'
import { SystemClock } from '../../../api/process/host/clock.ts'
import { systemRandom } from '../../../api/process/host/random.ts'
import { positionName } from '../../../api/process/webhooks/delivery.ts'
import { WebhookDeliveries } from '../../../api/process/webhooks/webhooks.ts'
import type { EventLog, Positions } from '../../../domain/ports/index.ts'
import { MemoryBlobs } from '../harness.ts'
import { collect, NEW, Sealer, type Tip, tipOf } from '../log/sealing.ts'
import { SECRET } from './receiver.ts'

const HASH = 'ab'.repeat(32)
const approval = {
  ...{ toolName: 'send_mail', argumentsRef: { revision: 0, block: 0 }, argumentsHash: HASH, reason: 'policy' },
  expiresAt: '2026-02-01T00:00:00.000Z',
}

/** Writes inputs and approvals of runs as facts. Each approval is a notice. */
export function writer(log: EventLog, name = 'sealer') {
  const sealer = new Sealer(name)
  sealer.ms = Math.max(0, log.floor() - Date.parse('2026-01-01T00:00:00.000Z') + 1)
  const tips = new Map<string, Tip>()
  return async (run: string, approvals = 1, more: readonly Parameters<Sealer['batch']>[2][number][] = []) => {
    const tip = tips.get(run) ?? NEW
    const begun = tip === NEW ? [{ type: 'user_input', body: { text: `\n Task of ${run} \nsecond line` } }] : []
    const asked = Array.from({ length: approvals }, () => ({ type: 'approval_requested', body: approval }))
    const batch = sealer.batch(`agent-${run}`, tip, [...begun, ...asked, ...more])
    await log.append(`agent-${run}`, tip.revision, batch)
    tips.set(run, tipOf(batch))
    return batch.filter(({ header }) => header.type === 'approval_requested').map(({ id }) => id)
  }
}

/** A clock whose waits are `faster` times as short. */
export function hasty(faster = 500, waits: number[] = []) {
  const real = new SystemClock()
  return {
    now: () => real.now(),
    sleep: (ms: number, signal?: AbortSignal) => {
      waits.push(ms)
      return real.sleep(ms / faster, signal)
    },
  }
}

interface Options {
  readonly url: string
  readonly folder: string
  readonly log?: EventLog
  readonly positions?: Positions
  readonly secret?: string | null
  readonly settings?: object
  readonly hide?: (text: string) => Promise<string>
  readonly parked?: () => Promise<readonly ParkedRow[]>
  readonly clock?: ReturnType<typeof hasty>
}

/** The deliveries of one webhook, `hook`, over a log in memory or another. */
export function deliveries({ url, folder, secret = SECRET, settings = {}, ...more }: Options) {
  const log = more.log ?? new MemoryLog()
  const positions = more.positions ?? new SqlitePositions(join(folder, 'positions.db'))
  const warnings: string[] = []
  const end = new AbortController()
  const webhooks = new WebhookDeliveries({
    ...{ log, positions, blobs: new MemoryBlobs(), clock: more.clock ?? hasty(), random: systemRandom },
    config: ConfigSchema.parse({ data: folder, webhooks: [{ name: 'hook', url, secret: 'HOOK', ...settings }] }),
    vault: { get: async () => secret },
    parked: more.parked ?? (async () => []),
    hide: more.hide ?? (async (text) => text),
    warn: (text) => void warnings.push(text),
  })
  return {
    ...{ log, positions, warnings, webhooks, write: writer(log) },
    start: () => webhooks.start(end.signal),
    async stop() {
      end.abort(new Error('the test ends'))
      await webhooks.ended()
    },
    /** Begins at the start of the log, as a webhook that was there from then on. */
    async fromStart() {
      const [first] = await collect(log.readAll(null, { limit: 1 }))
      const held = await positions.claim(positionName('hook'))
      await positions.write(positionName('hook'), { ...held, cursor: log.cursor(first!) })
    },
  }
}

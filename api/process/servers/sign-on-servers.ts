import type { Pool } from 'pg'
import { PostgresTreeStore } from '../../../adapters/postgres/tree-store.ts'
import { logKeyFile } from '../../../adapters/vault/log-key.ts'
import { vaultFiles } from '../../../adapters/vault/vault-files.ts'
import { readAcceptedLosses } from '../../../domain/agent/runtime/losses.ts'
import type { EventLog } from '../../../domain/ports/index.ts'
import type { TreeStore } from '../../../domain/ports/proof.ts'
import { LogAnchors } from '../../../domain/proof/runtime/anchors.ts'
import { LogSigner } from '../../../domain/proof/runtime/log-signer.ts'
import type { Tell } from '../../operations/notices.ts'
import type { ProofServices } from '../../operations/proof/services.ts'
import type { Services } from '../../operations/services.ts'
import type { ServersConfig } from '../config/settings.ts'
import { ANCHOR_KEEPERS } from '../host/anchor-keepers.ts'
import type { LossGate } from '../host/losses/loss-gate.ts'
import type { LeaseOptions } from './lease.ts'
import { SharedSigning } from './shared-signing.ts'

/** Opens the tree of the log. Null: it cannot be opened, which must not prevent the start. */
export async function openTree(pool: Pool, schema: string, tell: Tell): Promise<TreeStore | null> {
  try {
    return await PostgresTreeStore.open({ pool, schema })
  } catch (error) {
    tell(`${(error as Error).message}; until the next start, heads are neither signed nor verified by this process`)
    return null
  }
}

interface Signed extends LeaseOptions {
  readonly config: ServersConfig
  readonly log: EventLog
  readonly store: TreeStore
  readonly services: Pick<Services, 'streams' | 'random'>
  readonly gate: LossGate
  readonly holder: string
  /** False: a short command, which signs on demand only. */
  readonly stays: boolean
  readonly warn: Tell
}

/** The signatures of one process of a deployment. `close`: ends them, and signs what this process has left unsigned. */
export function signOnServers({ config, log, store, services, gate, stays, ...lease }: Signed): {
  readonly signing: NonNullable<ReturnType<ProofServices['signing']>>
  close(): Promise<void>
} {
  const { streams, random } = services
  const files = vaultFiles(config.data)
  let ends = false
  const warn: Tell = (text) => void (ends || lease.warn(text))
  const shared = { store, streams, clock: lease.clock, random, warn }
  const signer = new LogSigner({
    ...shared,
    log,
    keys: logKeyFile(files.logKey, files.lock),
    origin: config.proof.origin ?? `keepup.local/${log.logId}`,
    acceptedLosses: async () => (await readAcceptedLosses(log)).length,
    shared: true,
  })
  const rounds = stays ? new SharedSigning({ ...lease, warn, signer, refusal: () => gate.refusal }) : null
  const anchors = new LogAnchors({
    ...shared,
    signer,
    keepers: ANCHOR_KEEPERS,
    everyMs: stays ? config.proof.anchorEveryMs : null,
    active: () => rounds?.holds === true,
  })
  return {
    signing: { signer, anchors },
    async close() {
      ends = true
      await anchors.close()
      await rounds?.close()
    },
  }
}

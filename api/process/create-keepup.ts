import { access, RIGHTS_ID, USES_ID } from '../../domain/access/kind.ts'
import { AccessGate } from '../../domain/access/runtime/access-gate.ts'
import type { Keeping } from '../../domain/access/runtime/keeping.ts'
import { ROLES } from '../../domain/agent/definition/roles.ts'
import type { AgentServices } from '../../domain/agent/runtime/types.ts'
import type { DocumentGateway } from '../../domain/document/runtime/gateway.ts'
import type { Memories } from '../../domain/memory/runtime/memories.ts'
import type { BlobStore, Clock, EventLog, LoginWays, Positions, Random, Vault } from '../../domain/ports/index.ts'
import type { LogWitness } from '../../domain/proof/runtime/log-witness.ts'
import type { ContextStores } from '../../domain/store/runtime/context-stores.ts'
import type { Streams } from '../../domain/stream/runtime/streams.ts'
import { AccessUses } from '../operations/access/uses.ts'
import { Consumers } from '../operations/consumers/consumers.ts'
import type { Finding } from '../operations/doctor/finding.ts'
import { PresenceHub } from '../operations/document/presence.ts'
import type { Agents } from '../operations/external/agents.ts'
import type { Losses } from '../operations/losses/losses.ts'
import type { AppendTimes } from '../operations/metrics/append-times.ts'
import type { KnownModels } from '../operations/models/known-models.ts'
import { PlanPersistence, type PlanStore } from '../operations/plan/plan-persistence.ts'
import { Problem } from '../operations/problem.ts'
import type { ProofServices } from '../operations/proof/services.ts'
import type { ReadModel } from '../operations/read-model.ts'
import { createStarts, type PrepareServices } from '../operations/runs/prepare-start.ts'
import type { Files, Services, WorkSubscription } from '../operations/services.ts'
import type { SqlAuditor } from '../operations/sql/auditor.ts'
import { readiness } from '../operations/system/readiness.ts'
import { NO_TELEMETRY, type TelemetrySending } from '../operations/telemetry/services.ts'
import { NO_WEBHOOKS, type Webhooks } from '../operations/webhooks/services.ts'
import { ChangedTools, type ServerTools } from './drives/changed-tools.ts'
import { Drivers } from './drives/drivers.ts'
import { ANCHOR_KEEPERS } from './host/anchor-keepers.ts'
import { LiveHub } from './live/hub.ts'

/** The ports that a host provides to put the runtime behind the API. */
export interface KeepUpPorts {
  /** Creates the runtime. It publishes streamed text to the hub. */
  runtime(live: LiveHub): AgentServices
  readonly log: EventLog
  /** Absent: the host does not measure its appends. */
  readonly appendTimes?: AppendTimes
  /** Absent: the host cannot detect losses of the log. */
  readonly losses?: Losses
  readonly blobs: BlobStore
  readonly read: ReadModel
  readonly files: Files
  readonly documents: DocumentGateway
  readonly memories: Memories
  readonly contexts: ContextStores
  readonly streams: Streams
  /** Every erasure of the ports above must ask these holds. */
  readonly keeping: Keeping
  /** Absent: the log's heads are not signed. */
  readonly proof?: ProofServices
  /** Absent: this host does not cosign heads of other logs. */
  readonly witness?: LogWitness
  /** Absent: this host delivers no notices. */
  readonly webhooks?: Webhooks
  /** Absent: this host sends no spans. */
  readonly telemetry?: TelemetrySending
  /** The positions of consumers of the log. Absent: this host has no consumers. */
  readonly positions?: Positions
  /** Absent: only keys identify people and services. */
  readonly login?: LoginWays
  readonly vault: Vault
  readonly clock: Clock
  readonly random: Random
  readonly prepare: PrepareServices
  backup(folder: string): Promise<{ readonly files: readonly string[]; readonly bytes: number }>
  sizes(runIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Checks of the machine and the data folder. Absent: this host knows neither. */
  machine?(): Promise<readonly Finding[]>
  /** A model request in the provider's format. Absent: the host cannot give it. */
  wire?: NonNullable<Services['wire']>
  /** Calls the listener with each tool list of an external tool server. Absent: there are no such servers. */
  readonly onOffered?: (listener: (offered: ServerTools) => void) => void
  /** The store for plans as files. Absent: plans are not written to files. */
  readonly planFiles?: PlanStore
  /** Absent: the host runs no external agents. */
  readonly agents?: Agents
  /** Absent: the host has no information about its models. */
  models?(): KnownModels
  /** Absent: the host does not answer SQL questions. */
  readonly auditor?: SqlAuditor
  readonly readOnly?: boolean
  readonly workSubscription?: WorkSubscription
  /** The name of this process among several drivers. Absent: it is the only one. */
  readonly holder?: string
  readonly autoDrive?: boolean
  /** The most concurrent drives (default 32). */
  readonly concurrency?: number
  /** Called when a drive fails, or is aborted because the process ends. */
  onFault(agentId: string, error: unknown): void
  /** Closes the resources of these ports. Called after all drives have ended. */
  close(): Promise<void>
}

const NEEDED: readonly (keyof KeepUpPorts)[] = [
  ...(['runtime', 'log', 'blobs', 'read', 'files', 'documents', 'memories', 'contexts', 'streams', 'keeping'] as const),
  ...(['vault', 'clock', 'random', 'prepare', 'backup', 'sizes', 'onFault', 'close'] as const),
]

const NO_AUDITOR: SqlAuditor = {
  dialect: 'sqlite',
  ask: () => Promise.reject(new Problem('SQL_UNAVAILABLE', 'this program brought no tables that can be asked in SQL')),
  close: async () => {},
}

const NO_LOSSES: Losses = { open: null, refusal: null, look: async () => null, accept: async () => null }

/** The age in ms of access rights at most, after another process has changed them on servers. */
const SHARED_ACCESS_MS = 1_000

const NO_PROOF: ProofServices = { store: null, keepers: ANCHOR_KEEPERS, signing: () => null }

/** Builds the services of the API over the ports of a host. Throws a TypeError that names missing ports. */
export function createKeepUp(ports: KeepUpPorts): Services {
  const missing = NEEDED.filter((name) => ports[name] === undefined)
  if (missing.length > 0)
    throw new TypeError(`createKeepUp: no ${missing.join(', ')}; to open a data folder with all of it, use openKeepUp`)
  const live = new LiveHub()
  const runtime = ports.runtime(live)
  const drivers = new Drivers(runtime, live, (agentId, error) => ports.onFault(agentId, error), ports.concurrency)
  const plans = new PlanPersistence(ports.read, ports.planFiles ?? null, (runId, error) => ports.onFault(runId, error))
  drivers.onEvent((header) => plans.heard(header))
  drivers.onEvent((header) => live.heard(header))
  const changedTools = new ChangedTools({
    ...{ runtime, read: ports.read, onFault: (agentId, error) => ports.onFault(agentId, error) },
    wake: (runId) => void (ports.autoDrive === true && drivers.start(runId)),
  })
  if (ports.readOnly !== true) ports.onOffered?.((offered) => changedTools.offered(offered))
  const writes = ports.readOnly !== true
  const gate = new AccessGate({
    ...{ clock: ports.clock, random: ports.random, streams: ports.streams, writes },
    mailbox: ports.streams.mailbox(access, RIGHTS_ID),
    // Several processes write on servers. The owner of a data folder is the only one that writes there.
    maxAgeMs: ports.holder !== undefined ? SHARED_ACCESS_MS : writes ? Number.POSITIVE_INFINITY : 0,
  })
  const uses = new AccessUses({
    ...{ clock: ports.clock, random: ports.random, mailbox: ports.streams.mailbox(access, USES_ID), writes },
    onFault: (error) => ports.onFault('access', error),
  })
  ports.keeping.onRefused((principal, { run }, code) => uses.refused({ principal, operation: 'erase', run, code }))
  let closed: Promise<void> | null = null
  const { log, blobs, read, files, documents, memories, contexts, streams, keeping, vault, clock, random } = ports
  return {
    ...{ runtime, log, blobs, read, files, documents, memories, contexts, streams, vault, clock, random, live },
    ...{ drivers, plans, uses, access: gate, keeping },
    presence: new PresenceHub(() => clock.now()),
    login: ports.login ?? { signIn: null, tokens: null },
    starts: createStarts(ports.prepare),
    roles: () => ports.prepare.roles(),
    // The tools of the role `coder` are all available tools. Control tools exist only for roles.
    tools: () => ports.prepare.tools(ROLES.coder!, null),
    models: () => {
      if (ports.models === undefined)
        throw new Problem('WIRE_UNKNOWN', 'this program brought its own models; it cannot tell of them')
      return ports.models()
    },
    backup: (folder) => ports.backup(folder),
    sizes: (runIds) => ports.sizes(runIds),
    machine: async () => (await ports.machine?.()) ?? [],
    wire: ports.wire ?? null,
    agents: ports.agents ?? null,
    auditor: ports.auditor ?? NO_AUDITOR,
    readOnly: ports.readOnly ?? false,
    workSubscription: ports.workSubscription ?? null,
    holder: ports.holder ?? null,
    appendTimes: ports.appendTimes ?? null,
    losses: ports.losses ?? NO_LOSSES,
    proof: ports.proof ?? NO_PROOF,
    witness: ports.witness ?? null,
    webhooks: ports.webhooks ?? NO_WEBHOOKS,
    telemetry: ports.telemetry ?? NO_TELEMETRY,
    consumers: new Consumers({ log, blobs, clock, positions: ports.positions ?? null }),
    ready: readiness({ losses: NO_LOSSES, ...ports }),
    autoDrive: ports.autoDrive ?? false,
    close() {
      closed ??= Promise.all([drivers.stop(), ports.agents?.close(), ports.auditor?.close()])
        .then(() => Promise.all([plans.settled(), changedTools.settled()]))
        .then(() => uses.close())
        .then(() => documents.close())
        .then(() => ports.close())
      return closed
    },
  }
}

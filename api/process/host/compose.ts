import { PlanFiles } from '../../../adapters/files/plan-files.ts'
import { loginWays } from '../../../adapters/login/login-ways.ts'
import { loroDocuments } from '../../../adapters/loro/documents.ts'
import { documentTools } from '../../../adapters/loro/tools/document-tools.ts'
import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import { logKeyFile } from '../../../adapters/vault/log-key.ts'
import { RunLocks } from '../../../adapters/workspace/run-locks.ts'
import { Keeping } from '../../../domain/access/runtime/keeping.ts'
import { HealthThresholds } from '../../../domain/agent/routing/decision.ts'
import { fileVersions } from '../../../domain/agent/runtime/history/file-versions.ts'
import { agentAt, treeAt } from '../../../domain/agent/runtime/history/replay.ts'
import { readAcceptedLosses } from '../../../domain/agent/runtime/losses.ts'
import { ModelHealth } from '../../../domain/agent/runtime/model-health.ts'
import { Runtime } from '../../../domain/agent/runtime/runtime.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { DocumentGateway } from '../../../domain/document/runtime/gateway.ts'
import { delegatedAgents } from '../../../domain/external/runtime/delegated-agents.ts'
import { AGGREGATES } from '../../../domain/kinds.ts'
import type { Json } from '../../../domain/log/json.ts'
import { Memories } from '../../../domain/memory/runtime/memories.ts'
import type { BlobIntents, BlobStore, Clock, EventLog, RateLimiter, RequestCache } from '../../../domain/ports/index.ts'
import type { RuntimePorts } from '../../../domain/ports/runtime.ts'
import { proof } from '../../../domain/proof/kind.ts'
import { LogWitness } from '../../../domain/proof/runtime/log-witness.ts'
import { WITNESS_ID } from '../../../domain/proof/witness.ts'
import { ContextStores } from '../../../domain/store/runtime/context-stores.ts'
import type { StreamPorts } from '../../../domain/stream/runtime/ports.ts'
import { Streams } from '../../../domain/stream/runtime/streams.ts'
import type { AgentSpec } from '../../../domain/tree/spec.ts'
import { contentFrom } from '../../operations/document/content.ts'
import { listDocuments } from '../../operations/document/list-documents.ts'
import type { AgentLease } from '../../operations/external/leases.ts'
import { pointOf } from '../../operations/history/point.ts'
import { AppendTimes } from '../../operations/metrics/append-times.ts'
import { knownModels } from '../../operations/models/known-models.ts'
import { operatorText } from '../../operations/notices.ts'
import type { Files, Services } from '../../operations/services.ts'
import { VERSION } from '../../version.ts'
import { createKeepUp, type KeepUpPorts } from '../create-keepup.ts'
import { agentFilesAt } from '../files/agent-files.ts'
import type { FileSources } from '../files/file-sources.ts'
import { workspaceFilesOf } from '../files/workspace-files.ts'
import { memoryIndexOf } from '../tables/memory-index.ts'
import { readModelOf } from '../tables/projected-read-model.ts'
import type { Tables } from '../tables/table-answers.ts'
import { agentRuns } from './agent-runs.ts'
import { openEnvironment } from './environment.ts'
import { mustBeWhole } from './losses/loss-gate.ts'
import { type LossServices, lossesOf } from './losses/losses-of-log.ts'
import type { Host } from './open-host.ts'
import { paths } from './paths.ts'
import { systemRandom } from './random.ts'
import { openBoundary } from './secret-boundary.ts'
import { DEFAULT_MODEL, prepareServices } from './start-services.ts'

/** The storage and the specific parts of a composition. */
interface Kept
  extends Pick<
    KeepUpPorts,
    | 'auditor'
    | 'backup'
    | 'sizes'
    | 'close'
    | 'readOnly'
    | 'autoDrive'
    | 'workSubscription'
    | 'holder'
    | 'proof'
    | 'webhooks'
    | 'telemetry'
    | 'positions'
  > {
  readonly log: EventLog
  readonly blobs: BlobStore
  /** Absent: blobs of a dead writer need no cleanup. */
  readonly intents?: BlobIntents
  readonly tables: Tables
  readonly losses: LossServices
  readonly clock: Clock
  readonly limiter: RateLimiter
  /** Absent: this process only reads. */
  readonly cache?: RequestCache
  /** Absent: this host keeps no tables of past positions. */
  readonly pastTables?: StreamPorts['pastTables']
  /** Absent: this process is the only driver. The lease for an external agent's run; null: another process holds it. */
  readonly agentLease?: AgentLease
  /** Creates the runtime. Absent: the default runtime. */
  readonly runtime?: (ports: RuntimePorts) => Runtime
}

/** Requests without a run have no secrets. */
const NO_RUN = { secrets: [], policy: Policy.parse({}) }

/** Builds the services over a host and any storage. */
export function compose(host: Host, kept: Kept): Services {
  const { config, vault, models, mcp, knownSecrets, tell } = host
  const warn = (agentId: string, message: string) => tell(`${agentId}: ${message}`)
  const {
    log: unmeasured,
    blobs,
    intents,
    tables,
    losses,
    clock,
    limiter,
    cache,
    pastTables,
    runtime = (ports) => new Runtime(ports),
    ...particular
  } = kept
  const appendTimes = new AppendTimes()
  const log = appendTimes.measured(unmeasured)
  const health = new ModelHealth(clock, HealthThresholds.parse(config.modelHealth))
  const stores = { log, blobs, ...(intents && { intents }), snapshots: host.snapshots }
  const boundary = (spec: Pick<AgentSpec, 'secrets' | 'policy'>) => openBoundary(vault, knownSecrets, spec)
  const files: FileSources = {
    dataFolder: config.data,
    log,
    filesAt: (agentId, point) => treeAt(stores, agentId, point),
    versionsOf: (agentId, toStep) => fileVersions(stores, agentId, toStep),
    agentFilesAt: (agentId, point) => agentFilesAt(stores, agentId, point),
    boundary,
  }
  const keeping = new Keeping({ ...stores, streams: () => streams })
  const shared = {
    ...stores,
    holds: keeping,
    ...(cache && { cache }),
    ...(pastTables && { pastTables }),
    clock,
    random: systemRandom,
    outcomeLimitMs: config.fullPatienceMs,
    warn,
  }
  const documents = new DocumentGateway({
    ...shared,
    documents: loroDocuments,
    parse: parseXml,
    holdsSecret: async (text) => (await boundary(NO_RUN)).secrets.text(text) !== text,
    ...(host.crashPoint && { crashPoint: host.crashPoint }),
  })
  const forDocuments = documentTools({
    ...{ gateway: documents, clock, parse: contentFrom },
    list: async (page) => {
      await read.caughtUp()
      return listDocuments({ log, read }, page)
    },
  })
  const hide = async <T extends Json>(value: T): Promise<T> => {
    const { secrets } = await boundary(NO_RUN)
    const hidden = secrets.json(value)
    await secrets.keep()
    return hidden
  }
  const ownStreams = { ...shared, ...(host.crashPoint && { crashPoint: host.crashPoint }) }
  const memories = new Memories({ ...ownStreams, index: memoryIndexOf(() => read), redact: hide })
  const contexts = new ContextStores({ ...ownStreams, hide })
  const streams = new Streams({ ...ownStreams, hide }, AGGREGATES)
  // The keys of the witness are a file.
  const witness =
    host.keepsFiles &&
    new LogWitness({
      ...{ clock, random: systemRandom, mailbox: streams.mailbox(proof, WITNESS_ID) },
      keys: logKeyFile(paths(config.data).witnessKey),
      name: `${config.proof.origin ?? `keepup.local/${log.logId}`}/witness`,
      acceptedLosses: async () => (await readAcceptedLosses(log)).length,
    })
  const tools = [...host.tools, ...forDocuments]
  const locks = new RunLocks(config.data)
  const named = new Map(tools.map((tool) => [tool.spec.name, tool]))
  const ports: Omit<RuntimePorts, 'feed'> = {
    ...shared,
    build: VERSION,
    agentsAtOnce: config.agentsAtOnce,
    adoptsTraces: config.telemetry?.adopt ?? false,
    ...(kept.holder !== undefined && {
      driver: kept.holder,
      takenOver: (agentId, from) =>
        warn(agentId, `taken over from driver ${from}, which did not end what it had begun`),
    }),
    mustBeWhole: (agentId) => mustBeWhole({ log: losses.log, read: losses.seenHead ?? losses.read }, agentId),
    provider: (id) => models.provider(id),
    memory: memories,
    ...{ health, limiter },
    hasProvider: (id) => models.has(id),
    hasTool: (name) => named.has(name) || mcp.serverOf(name) !== null,
    secrets: async (spec) => (await boundary(spec)).secrets,
    environment: async (spec, about) => {
      const parts = { config, locks, tools: named, mcp, boundary: await boundary(spec) }
      return openEnvironment({ ...parts, warn: (text) => warn(about.agentId, text) }, spec, about)
    },
    ...(host.crashPoint && { crashPoint: host.crashPoint }),
  }
  const read = readModelOf(tables, {
    ...stores,
    pointAt: async (agentId, revision) => pointOf(await agentAt(stores, agentId, { revision })),
  })
  const agents =
    kept.readOnly === true || !host.keepsFiles
      ? null
      : agentRuns(host, ports, tables, () => read.current(), kept.agentLease)
  return createKeepUp({
    ...particular,
    ...(agents !== null && { agents }),
    runtime: (live) =>
      runtime({ ...ports, feed: live, ...(agents !== null && { delegated: delegatedAgents(agents) }) }),
    ...{ log, appendTimes },
    losses: lossesOf(losses, { ...ports, log: losses.log, feed: { publish() {} } }),
    blobs,
    read,
    files: clearing(workspaceFilesOf(files), cache),
    documents,
    memories,
    contexts,
    streams,
    keeping,
    ...(witness && { witness }),
    login: loginWays(config.access, config.oidcSecret, clock),
    ...(kept.readOnly !== true && host.keepsFiles && { planFiles: new PlanFiles(paths(config.data).plans) }),
    onOffered: (listener) =>
      mcp.onOffered(({ tools, ...from }) => listener({ ...from, tools: tools.map(({ spec }) => spec) })),
    vault,
    clock,
    random: systemRandom,
    wire: (request) => models.wire(request),
    models: () =>
      knownModels({
        known: models.known(),
        routing: config.routing,
        defaultModel: config.model ?? DEFAULT_MODEL,
        safeDefaultModel: config.safeDefaultModel,
        info: (id) => models.info(id),
        health: (id) => health.figures(id),
      }),
    prepare: prepareServices({ ...host, tools }),
    concurrency: config.concurrency,
    onFault: (agentId, error) => warn(agentId, operatorText(error)),
    ...(host.keepsFiles && {
      machine: async () => {
        const { machineFindings } = await import('../doctor/machine-findings.ts')
        return machineFindings(config, process.env, true)
      },
    }),
  })
}

/** Clears the request cache after a restore, because the cached answers relate to other files. */
const clearing = (files: Files, cache: RequestCache | undefined): Files => ({
  ...files,
  async restore(agentId, asked) {
    const done = await files.restore(agentId, asked)
    if (!asked.dryRun) await cache?.clear()
    return done
  },
})

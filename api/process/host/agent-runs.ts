import { basename } from 'node:path'
import { createAcpBackend } from '../../../adapters/agents/acp/backend.ts'
import { claudeCode } from '../../../adapters/agents/cli/claude-code.ts'
import { codex } from '../../../adapters/agents/cli/codex.ts'
import { gemini } from '../../../adapters/agents/cli/gemini.ts'
import { opencode } from '../../../adapters/agents/cli/opencode.ts'
import { createCliBackend } from '../../../adapters/agents/process/cli-backend.ts'
import { reap } from '../../../adapters/sandbox/registry.ts'
import { Policy } from '../../../domain/calls/policy-schema.ts'
import { HOSTED } from '../../../domain/external/hosted/state.ts'
import { OTLP } from '../../../domain/external/reported/backend.ts'
import { AgentGateway, checkBackends } from '../../../domain/external/runtime/gateway.ts'
import { ReportedRuns } from '../../../domain/external/runtime/reported-runs.ts'
import { type ExternalLogPorts, StreamExternalLog } from '../../../domain/external/runtime/stream-log.ts'
import { runIdOf } from '../../../domain/log/ids.ts'
import type { Json } from '../../../domain/log/json.ts'
import type { AgentBackend } from '../../../domain/ports/external.ts'
import { unhidable } from '../../../domain/secrets/forms.ts'
import type { AgentSpec, Price } from '../../../domain/tree/spec.ts'
import { Agents } from '../../operations/external/agents.ts'
import { type AgentLease, withLease } from '../../operations/external/leases.ts'
import { holdFiles, shareFiles } from '../files/agent-files.ts'
import { hiddenFrom } from '../files/hidden-paths.ts'
import type { Tables } from '../tables/table-answers.ts'
import type { Host } from './open-host.ts'
import { openBoundary } from './secret-boundary.ts'

const PLAIN: Pick<AgentSpec, 'secrets' | 'policy'> = { secrets: [], policy: Policy.parse({}) }

const KNOWN = [claudeCode, codex, gemini, opencode]

/**
 * The backends of this host: built-in command lines, programs from the settings, and backends from the embedding
 * program.
 */
export function backendsOf({ config, agents = [] }: Pick<Host, 'config' | 'agents'>): readonly AgentBackend[] {
  const { writable, readable } = config.agents.confinement ?? { writable: [], readable: [] }
  const options = {
    workspace: process.cwd(),
    dataFolder: config.data,
    confinement: async (cwd: string) => ({ writable, readable, hide: await hiddenFrom(config, cwd) }),
  }
  const lines = KNOWN.map((agent) => createCliBackend(agent, options))
  const programs = Object.entries(config.agents.acp).map(
    ([
      kind,
      {
        command: [program, ...args],
        env: passes,
      },
    ]) => {
      // A known program keeps its state in the same places, with ACP too.
      const keeps = KNOWN.find((known) => known.program === basename(program!))?.keeps
      return createAcpBackend({ kind, program: program!, args, passes, ...(keeps && { keeps }) }, options)
    },
  )
  const own = agents.map((agent) => ('start' in agent ? agent : createCliBackend(agent, options)))
  return [...lines, ...programs, ...own]
}

/** Why the settings allow unconfined agents. Null: they do not. */
function unconfinedBy({ sandboxed, agents: { confinement } }: Host['config']): string | null {
  if (!sandboxed) return 'the setting "sandboxed" is false'
  return confinement === null ? 'the setting "agents.confinement" is null' : null
}

/** The price of a model by the agent's name for it, from the settings or the catalogue. */
export function priceOf({ models }: Pick<Host, 'models'>, model: string): Price | null {
  const name = model.slice(model.lastIndexOf('/') + 1)
  const known = models.known().find(({ id }) => id === model || id === name || id.slice(id.indexOf(':') + 1) === name)
  return known?.price ?? null
}

/** Builds the service for external agents over a host and its storage. */
export function agentRuns(
  host: Host,
  ports: ExternalLogPorts,
  tables: Pick<Tables, 'read'>,
  caughtUp: () => Promise<unknown>,
  lease?: AgentLease,
): Agents {
  const backends = backendsOf(host)
  // Check now: a later error would make every run fail, whatever its kind.
  checkBackends(backends)
  return new Agents({
    backends,
    allowed: host.config.agents,
    clock: ports.clock,
    newId: () => runIdOf(ports.clock.now(), ports.random.bytes(8)),
    ...(lease !== undefined && { lease }),
    async log(policy = PLAIN.policy) {
      const { secrets } = await openBoundary(host.vault, host.knownSecrets, { ...PLAIN, policy })
      const log = new StreamExternalLog({ ...ports, beforeAppend: () => secrets.keep() })
      const hideValue = async (value: Json) => {
        const hidden = secrets.result(value)
        await secrets.keep()
        return hidden
      }
      return { log, hide: (text) => secrets.text(text), hideValue }
    },
    price: (model) => priceOf(host, model),
    reports: new ReportedRuns(ports),
    async share(folder, about) {
      return shareFiles(folder, host.config.data, await openBoundary(host.vault, host.knownSecrets, about))
    },
    async gateway(request, about = PLAIN) {
      // A variable for an agent may contain a secret. The request is not validated yet.
      const given = Object.values(request?.env ?? {}).filter(
        (value) => typeof value === 'string' && unhidable(value) === null,
      )
      const boundary = await openBoundary(host.vault, [...host.knownSecrets, ...given], about)
      const { secrets } = boundary
      const log = new StreamExternalLog({ ...ports, beforeAppend: () => secrets.keep() })
      const hiding = { value: secrets.json, texts: () => secrets.texts() }
      const hold = (folder: string) => holdFiles(folder, host.config.data, boundary)
      const unconfined = unconfinedBy(host.config)
      const settings = unconfined === null ? {} : { unconfined }
      return new AgentGateway({ log, clock: ports.clock, hiding, backends, hold, ...settings })
    },
    async settle() {
      await caughtUp()
      const { data: open } = await tables.read((db) =>
        db
          .selectFrom('agents')
          .select('id')
          .where('ungoverned', '=', 1)
          .where('backend', 'not in', [OTLP, ...HOSTED])
          .where('completed_at', 'is', null)
          .execute(),
      )
      if (open.length === 0) return 0
      // First end processes of dead drivers on this host. The log must not record the end of a run that still works.
      const ended = reap(host.config.data)
      const log = new StreamExternalLog(ports)
      let settled = 0
      for (const { id } of open)
        await withLease(lease, id, async () => {
          if (await log.settle(id, open.length === 1 ? ended : 0)) settled++
        })
      return settled
    },
  })
}

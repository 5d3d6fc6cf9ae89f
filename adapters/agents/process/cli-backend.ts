import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { AgentError } from '../../../domain/external/errors.ts'
import type { AgentRunRequest } from '../../../domain/external/request.ts'
import type { AgentBackend, AgentCompletion, BackendRun, BackendState, Mapped } from '../../../domain/ports/external.ts'
import type { CliAgent, ReachedTools } from './cli-agent.ts'
import { agentEnvironment, notAllowed } from './environment.ts'
import { programOf } from './find-agent.ts'
import { confinementOf, type HarnessOptions, runAgent } from './harness.ts'
import { foundLogin } from './login.ts'
import { mapLine } from './map-line.ts'

/** A backend that runs an agent's command line. */
export function createCliBackend(agent: CliAgent, options: HarnessOptions): AgentBackend {
  const { kind, capabilities, extensions, reportsCost = false, takesTools = false, budgetExtension, levels } = agent
  return {
    kind,
    capabilities,
    ...(extensions !== undefined && { extensions }),
    reportsCost,
    takesTools,
    ...(levels !== undefined && { levels }),
    ...(budgetExtension !== undefined && { budgetExtension }),
    contradiction: (request) =>
      notAllowed(options.allowed ?? {}, request.env, foldersOf(request, options)) ??
      agent.contradiction?.(request) ??
      null,
    withoutRights: (request) => withoutRights(agent, request),
    confinement: (request) => confinementOf(options, agent, request),
    start: (request, run) => start(agent, options, request, run),
    inspect: () => inspect(agent, options),
  }
}

const foldersOf = ({ workingDir, extensions }: AgentRunRequest, { workspace }: HarnessOptions): string[] => [
  workingDir ?? workspace,
  ...(extensions?.['agent_api.exec.add_dirs.v1']?.dirs ?? []),
]

async function start(
  agent: CliAgent,
  options: HarnessOptions,
  request: AgentRunRequest,
  run: BackendRun,
): Promise<AgentCompletion> {
  if (run.tools === undefined || agent.takesTools !== true) return startReaching(agent, options, request, run)
  // The MCP library is large, and most runs get no tools.
  const { reachTools } = await import('./reach-tools.ts')
  const reached = await reachTools(run.tools, options.env ?? process.env)
  try {
    return await startReaching(agent, options, request, run, reached.tools)
  } finally {
    await reached.close()
  }
}

const EVERYTHING = 'agent_api.exec.external_sandbox.v1'

function withoutRights({ kind, rights }: CliAgent, { extensions = {} }: AgentRunRequest): string | null {
  if (rights === undefined || Object.hasOwn(extensions, rights.extension) || Object.hasOwn(extensions, EVERYTHING))
    return null
  return (
    `${kind} would change nothing, because it asks before it writes and nobody can answer; say what it may do: ` +
    `--extension ${rights.extension}=${rights.edits} (edit files), or --extension ${EVERYTHING}=true (all that its confinement allows)`
  )
}

async function startReaching(
  agent: CliAgent,
  options: HarnessOptions,
  request: AgentRunRequest,
  run: BackendRun,
  reach?: ReachedTools,
): Promise<AgentCompletion> {
  const { args, stdin, env, readable = [] } = agent.plan(request, reach)
  const mapping = agent.mapping()
  const { program, passes, kind, keeps } = agent
  const status = await runAgent(
    options,
    {
      ...{ program, passes, args, env, keeps, stdin: stdin !== null },
      readable: [...readable, ...(reach === undefined ? [] : [reach.folder])],
    },
    request,
    run,
    async (process_) => {
      // Does not wait for an agent that never reads its prompt.
      process_.stdin?.end(stdin)
      for await (const line of process_.lines) {
        const ready = run.emit(mapLine(line, mapping))
        if (ready !== undefined) await ready
      }
    },
  )
  const { done, finalText, mapped } = mapping.end()
  const meaning = status.code === null ? undefined : agent.exitCodes?.[status.code]
  const unsaid = status.code === 0 && !done ? `${kind} ended without saying that its work is done` : meaning
  const last: Mapped[] = mapped === undefined ? [] : [mapped]
  if (unsaid !== undefined) last.push({ events: [{ kind: 'Error', message: unsaid }] })
  for (const one of last) await run.emit(one)
  return { status, success: status.code === 0 && done, finalText }
}

async function inspect(agent: CliAgent, options: HarnessOptions): Promise<BackendState> {
  const login = agent.login === undefined ? {} : { login: foundLogin(agent.login, options.env ?? process.env) }
  try {
    return { installed: true, version: await installedVersion(agent, options), ...login }
  } catch (error) {
    if (!(error instanceof AgentError)) throw error
    return { installed: isThere(agent, options), version: null, ...login, problem: error.message }
  }
}

function isThere(agent: CliAgent, options: HarnessOptions): boolean {
  try {
    return programOf(agent.program, options) !== ''
  } catch {
    return false
  }
}

const VERSION_MS = 30_000

/**
 * The installed version. Null: the program prints no version. Throws AgentError `Backend` if the program is not
 * installed.
 */
export async function installedVersion(agent: CliAgent, options: HarnessOptions): Promise<string | null> {
  const ours = options.env ?? process.env
  const program = programOf(agent.program, options)
  const told = promisify(execFile)(program, [...agent.versionArgs], {
    env: agentEnvironment(ours, [], tmpdir()),
    timeout: VERSION_MS,
    maxBuffer: 64 * 1024,
  }).catch((cause) => {
    throw new AgentError('Backend', `${agent.kind} is installed and does not tell its version`, { cause })
  })
  return /\d+\.\d+\.\d+[\w.-]*/.exec((await told).stdout)?.[0] ?? null
}

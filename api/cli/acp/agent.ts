import { randomUUID } from 'node:crypto'
import { isAbsolute } from 'node:path'
import {
  type AgentContext,
  agent,
  PROTOCOL_VERSION,
  RequestError,
  type SessionModeState,
} from '@agentclientprotocol/sdk'
import { Refused } from '../../http/answers.ts'
import { VERSION } from '../../version.ts'
import type { Context } from '../context.ts'
import { CliError, UsageError } from '../exit.ts'
import { eventPages } from '../follow/pages.ts'
import { AUTH_METHODS, authenticate } from './authentication.ts'
import { runIdOfKey, sessionRuns } from './chain.ts'
import { promptText } from './prompt-text.ts'
import { EditorSession, type Mode, type SessionOptions } from './session.ts'
import { RunUpdates } from './updates.ts'

const MODES: readonly { readonly id: Mode; readonly name: string; readonly description: string }[] = [
  { id: 'interactive', name: 'Interactive', description: 'One call a turn; writing files and running commands ask' },
  { id: 'batch', name: 'Batch', description: 'Several calls a turn; nothing asks but what the settings name' },
]
const modes = (currentModeId: Mode): SessionModeState => ({ currentModeId, availableModes: [...MODES] })

/** The default options of the sessions of this agent. */
export interface AcpDefaults extends Omit<SessionOptions, 'cwd'> {
  readonly mode: Mode
}

/**
 * keepup as an agent of the Agent Client Protocol (ACP). A session is a chain of runs. An approval is a permission
 * request.
 */
export function acpAgent(ctx: Context, { mode, ...options }: AcpDefaults) {
  const sessions = new Map<string, EditorSession>()
  const open = (id: string, cwd: string, first: string | null): EditorSession => {
    const session = new EditorSession(ctx, { id, first, mode, options: { ...options, cwd } })
    sessions.set(id, session)
    return session
  }
  const known = (id: string): EditorSession => {
    const session = sessions.get(id)
    if (session === undefined) throw RequestError.resourceNotFound(id)
    return session
  }
  const again = async ({ sessionId, cwd }: { sessionId: string; cwd: string }) => {
    folder(cwd)
    const runs = await sessionRuns(ctx, sessionId)
    const [first] = runs
    if (first === undefined) throw RequestError.resourceNotFound(sessionId)
    if (first.ungoverned)
      throw RequestError.invalidParams(undefined, 'a run of another agent cannot be gone on with; start a new session')
    return { session: sessions.get(sessionId) ?? open(sessionId, first.workspace ?? cwd, null), runs }
  }
  return agent({ name: 'keepup' })
    .onRequest('initialize', () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'keepup', version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        sessionCapabilities: { resume: {} },
      },
      authMethods: [...AUTH_METHODS],
    }))
    .onRequest('authenticate', ({ params: { methodId } }) => {
      authenticate(ctx, methodId, options.model)
      return {}
    })
    .onRequest('session/new', ({ params: { cwd, mcpServers } }) =>
      answered(async () => {
        folder(cwd)
        servers(ctx, mcpServers)
        const first = randomUUID()
        const { id } = open(await runIdOfKey(ctx, first), cwd, first)
        return { sessionId: id, modes: modes(mode) }
      }),
    )
    .onRequest('session/load', ({ params, client }) =>
      answered(async () => {
        servers(ctx, params.mcpServers)
        const { session, runs } = await again(params)
        for (const { runId, workspace } of runs) await tellHistory(ctx, client, session, runId, workspace)
        return { modes: modes(session.mode) }
      }),
    )
    .onRequest('session/resume', ({ params }) =>
      answered(async () => {
        servers(ctx, params.mcpServers ?? [])
        const { session } = await again(params)
        return { modes: modes(session.mode) }
      }),
    )
    .onRequest('session/set_mode', ({ params: { sessionId, modeId } }) => {
      const chosen = MODES.find(({ id }) => id === modeId)
      if (chosen === undefined)
        throw RequestError.invalidParams(
          undefined,
          `there is no such mode; there are ${MODES.map((m) => m.id).join(', ')}`,
        )
      known(sessionId).mode = chosen.id
      return {}
    })
    .onRequest('session/prompt', ({ params: { sessionId, prompt }, client }) =>
      answered(async () => ({ stopReason: await known(sessionId).prompt(promptText(prompt), client) })),
    )
    .onNotification('session/cancel', ({ params: { sessionId } }) => sessions.get(sessionId)?.cancel())
}

async function tellHistory(
  ctx: Context,
  client: AgentContext,
  session: EditorSession,
  id: string,
  folder: string | null,
): Promise<void> {
  const updates = new RunUpdates(id, { folder, history: true })
  for await (const page of eventPages(await ctx.client('write'), id, {}))
    for (const event of page.events) for (const update of updates.map(event)) session.tell(client, update)
}

function folder(cwd: string): void {
  if (!isAbsolute(cwd)) throw RequestError.invalidParams(undefined, 'cwd must be an absolute path')
}

/**
 * Ignores the editor's MCP servers. Only servers in the settings remain available when a run continues without the
 * editor.
 */
function servers(ctx: Context, asked: readonly { readonly name: string }[]): void {
  if (asked.length === 0) return
  const names = asked.map(({ name }) => name).join(', ')
  ctx.note(`the editor's MCP servers are not used (${names}); name those that runs are to have in the settings`)
}

/** Maps errors for the editor. A refusal of the runtime keeps its message; unexpected errors do not. */
async function answered<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof RequestError) throw error
    if (error instanceof Refused)
      throw new RequestError(error.status < 500 ? -32602 : -32603, error.message, { code: error.code })
    if (error instanceof CliError || error instanceof UsageError) throw new RequestError(-32603, error.message)
    throw error
  }
}

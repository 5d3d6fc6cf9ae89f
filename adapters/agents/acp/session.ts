import {
  type ClientConnection,
  type McpServer,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
} from '@agentclientprotocol/sdk'
import { AgentError } from '../../../domain/external/errors.ts'
import type { AgentRunRequest } from '../../../domain/external/request.ts'

type Agent = ClientConnection['agent']

const METHOD_NOT_FOUND = -32601
const AUTHENTICATION_REQUIRED = -32000

/** Initializes the connection and opens the session of a request, new or resumed. Returns the session's id. */
export async function openSession(
  agent: Agent,
  { workingDir, extensions = {} }: AgentRunRequest,
  workspace: string,
  servers: readonly McpServer[],
): Promise<string> {
  const { protocolVersion, agentCapabilities } = await agent
    .request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {},
      clientInfo: { name: 'keepup', version: '1' },
    })
    .catch(throwAgentError('initialize'))
  if (protocolVersion !== PROTOCOL_VERSION)
    throw unsupported(
      `the agent speaks version ${Number(protocolVersion)} of the protocol, and not ${PROTOCOL_VERSION}`,
    )
  const { loadSession = false, sessionCapabilities } = agentCapabilities ?? {}
  const dirs = extensions['agent_api.exec.add_dirs.v1']?.dirs ?? []
  if (dirs.length > 0 && !sessionCapabilities?.additionalDirectories)
    throw unsupported('agent_api.exec.add_dirs.v1: this agent takes no further folders')
  const session: NewSessionRequest = { cwd: workingDir ?? workspace, mcpServers: [...servers] }
  if (dirs.length > 0) session.additionalDirectories = [...dirs]
  const resume = extensions['agent_api.session.resume.v1']
  if (resume?.selector !== 'id')
    return (await agent.request('session/new', session).catch(throwAgentError('session/new'))).sessionId
  const sessionId = resume.id
  if (sessionCapabilities?.resume)
    await agent.request('session/resume', { ...session, sessionId }).catch(throwAgentError('session/resume'))
  else if (loadSession)
    await agent.request('session/load', { ...session, sessionId }).catch(throwAgentError('session/load'))
  else throw unsupported('agent_api.session.resume.v1: this agent resumes no sessions')
  return sessionId
}

const unsupported = (message: string) => new AgentError('UnsupportedCapability', message)

/** Maps an agent's error to an AgentError. The agent's own message may contain secrets, so it is omitted. */
export const throwAgentError =
  (method: string) =>
  (fault: unknown): never => {
    if (!(fault instanceof RequestError)) throw fault
    if (fault.code === METHOD_NOT_FOUND) throw unsupported(`the agent does not know ${method}`)
    if (fault.code === AUTHENTICATION_REQUIRED)
      throw new AgentError('Backend', 'the agent is not logged in; log in with its own program')
    throw new AgentError('Backend', `the agent answered ${method} with error ${fault.code}`)
  }

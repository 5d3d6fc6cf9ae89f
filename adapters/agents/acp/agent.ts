import type { McpServer } from '@agentclientprotocol/sdk'
import type { OwnPlaces } from '../process/confine.ts'
import type { AskPermission } from './permission.ts'

/** An agent that speaks the Agent Client Protocol, version 1, on its standard streams. */
export interface AcpAgent {
  /** The backend kind. Default: `acp`. With several agents, each needs a different kind. */
  readonly kind?: string
  readonly program: string
  readonly args: readonly string[]
  /** Names of the environment variables that keepup passes to the agent. */
  readonly passes?: readonly string[]
  /** Paths of the agent's own state and login. The agent can change them when it is confined. */
  readonly keeps?: OwnPlaces
  /** MCP servers whose tools the agent may call. */
  readonly mcpServers?: readonly McpServer[]
  /** Answers the agent's permission requests. Absent: a person answers, as for every approval. */
  readonly ask?: AskPermission
}

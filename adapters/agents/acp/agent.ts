import type { McpServer } from '@agentclientprotocol/sdk'
import type { OwnPlaces } from '../process/confine.ts'
import type { AskPermission } from './permission.ts'

/** An agent that speaks the Agent Client Protocol, version 1, on its standard streams. */
export interface AcpAgent {
  /** Default: `acp`. Each of several agents has a kind of its own. */
  readonly kind?: string
  readonly program: string
  readonly args: readonly string[]
  /** Names of variables of ours that it is given. */
  readonly passes?: readonly string[]
  /** Its own state and login, which it can change where it is confined. */
  readonly keeps?: OwnPlaces
  /** Servers whose tools it is offered. */
  readonly mcpServers?: readonly McpServer[]
  /** Decides what it asks leave for. Absent: a person does, as with every approval. */
  readonly ask?: AskPermission
}

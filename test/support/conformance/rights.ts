import { replace } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const sandbox = 'test/agents/mcp-sandbox.test.ts'
const servers = 'MCP servers'
const served = 'keepup mcp'

/** Rules for the access rights of tool servers and of the clients of keepup's server. */
export const RIGHTS: readonly Rule[] = [
  {
    rule: servers,
    says: 'a server in the sandbox sees nothing of what keepup hides',
    test: sandbox,
    name: 'sees nothing of what is hidden in the folder of its run',
    fault: fault('adapters/mcp/mcp-tools.ts', 'inSandbox', replace('call', 'hidden', '[]')),
  },
  {
    rule: servers,
    says: 'a server in the sandbox has no network unless its settings grant it',
    test: sandbox,
    name: 'has no network unless its settings grant it',
    fault: fault('adapters/mcp/mcp-tools.ts', 'inSandbox', replace('value', 'network', 'true')),
  },
  {
    rule: servers,
    says: 'where there is no sandbox a server is refused, not started outside of it',
    test: sandbox,
    name: 'where there is no sandbox a server is refused by its name',
    fault: fault('adapters/mcp/mcp-tools.ts', 'openTransport', replace('condition', 'sandboxed', 'true')),
  },
  {
    rule: 'documents',
    says: 'an update that leaves a block outside the document model is refused',
    test: 'test/adapters/documents/person-update.test.ts',
    name: 'that leaves a block outside the document model is refused:',
    fault: fault('adapters/loro/outside-model.ts', 'outsideModel', replace('condition', 'fault', 'false')),
  },
  {
    rule: servers,
    says: 'a message of a server is bounded before it is parsed',
    test: 'test/adapters/tools-mcp/message-bounds.test.ts',
    name: 'is refused and holds the event loop briefly',
    fault: fault('adapters/mcp/message-bounds.ts', 'requireParsable', replace('condition', 'values', 'false')),
  },
  {
    rule: servers,
    says: 'a tool that is not the one that was recorded is not called',
    test: 'test/api/library/mcp.test.ts',
    name: 'than the recorded one is not called',
    fault: fault('api/process/host/outside-tools.ts', '#offered', replace('condition', 'changed', 'true')),
  },
  {
    rule: servers,
    says: 'what is known of the secrets of servers is written nowhere',
    test: 'test/agents/mcp-secrets.test.ts',
    fault: fault('api/process/host/outside-tools.ts', 'secretsOfTools', replace('call', 'secretsOfServers', '[]')),
  },
  {
    rule: served,
    says: 'a read-only server offers nothing that records',
    test: 'test/api/library/mcp-served.test.ts',
    name: 'offers nothing that records',
    fault: fault('api/mcp/server.ts', 'mcpServer', replace('condition', 'changes readOnly', 'mcp === undefined')),
  },
  {
    rule: served,
    says: 'a refusal is an answer in words, with its code',
    test: 'test/api/library/mcp-served.test.ts',
    name: 'what is refused is told',
    fault: fault('api/mcp/server.ts', 'mcpServer', replace('call', 'refusalOf', "'done'")),
  },
]

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
    fault: {
      file: 'adapters/mcp/mcp-tools.ts',
      search: 'const hide = await hidden(folder)',
      replace: 'const hide: readonly string[] = (await hidden(folder)).slice(0, 0)',
    },
  },
  {
    rule: servers,
    says: 'a server in the sandbox has no network unless its settings grant it',
    test: sandbox,
    name: 'has no network unless its settings grant it',
    fault: {
      file: 'adapters/mcp/mcp-tools.ts',
      search: '{ id, folder, readable, network, hide,',
      replace: '{ id, folder, readable, network: network || true, hide,',
    },
  },
  {
    rule: servers,
    says: 'where there is no sandbox a server is refused, not started outside of it',
    test: sandbox,
    name: 'where there is no sandbox a server is refused by its name',
    fault: {
      file: 'adapters/mcp/mcp-tools.ts',
      search: 'if (!settings.sandboxed) return',
      replace: "if (!settings.sandboxed || process.platform !== 'linux') return",
    },
  },
  {
    rule: 'documents',
    says: 'an update that leaves a block outside the document model is refused',
    test: 'test/adapters/documents/person-update.test.ts',
    name: 'that leaves a block outside the document model is refused:',
    fault: {
      file: 'adapters/loro/outside-model.ts',
      search: 'if (fault !== null) return fault',
      replace: 'if (fault === id) return fault',
    },
  },
  {
    rule: servers,
    says: 'a message of a server is bounded before it is parsed',
    test: 'test/adapters/tools-mcp/message-bounds.test.ts',
    name: 'is refused and holds the event loop briefly',
    fault: {
      file: 'adapters/mcp/message-bounds.ts',
      search: 'if (values > MAX_VALUES)',
      replace: 'if (values < 0 * MAX_VALUES)',
    },
  },
  {
    rule: servers,
    says: 'a tool that is not the one that was recorded is not called',
    test: 'test/api/mcp.test.ts',
    name: 'than the recorded one is not called',
    fault: {
      file: 'api/process/host/outside-tools.ts',
      search: 'if (changed.length === 0) return offered',
      replace: 'if (changed.length >= 0) return offered',
    },
  },
  {
    rule: servers,
    says: 'what is known of the secrets of servers is written nowhere',
    test: 'test/agents/mcp-secrets.test.ts',
    fault: {
      file: 'api/process/host/outside-tools.ts',
      search: '...secretsOfServers(mcp)]',
      replace: '...secretsOfServers(mcp).slice(0, 0)]',
    },
  },
  {
    rule: served,
    says: 'a read-only server offers nothing that records',
    test: 'test/api/mcp-served.test.ts',
    name: 'offers nothing that records',
    fault: { file: 'api/mcp/server.ts', search: 'if (changes && readOnly) continue', replace: '' },
  },
  {
    rule: served,
    says: 'a refusal is an answer in words, with its code',
    test: 'test/api/mcp-served.test.ts',
    name: 'what is refused is told',
    fault: {
      file: 'api/mcp/server.ts',
      search: 'return { ...told(refusalOf(error)), isError: true }',
      replace: "return told('done')",
    },
  },
]

/** Minimal examples of settings whose form an error message cannot explain. */
export const EXAMPLES: Readonly<Record<string, unknown>> = {
  models: [
    { id: 'openai:my-model', contextTokens: 32_000, price: { asOf: '2026-11-01', input: '0.15', output: '0.60' } },
  ],
  routing: { models: ['small', 'large'], rules: [{ name: 'cheap', policy: 'cost' }] },
  modelHealth: { errorRate: 0.5, probeAfterMs: 30_000 },
  rateLimits: { anthropic: { requestsPerMinute: 50 } },
  retry: { maxRetries: 20, backoffCapMs: 300_000 },
  context: { compressionStrategy: 'summarize', compressionThreshold: 0.7 },
  knowledge: [
    { file: 'house-rules.md', roles: ['coder'] },
    { name: 'team', text: 'Ask Ann about the database.' },
  ],
  delegation: { maxDepth: 2, agents: 20 },
  hosts: ['keepup.example.org'],
  web: { search: { provider: 'searxng', url: 'https://search.example.org' } },
  agents: {
    folders: ['/srv/projects'],
    roles: { coder: { kind: 'claude_code', model: 'claude-sonnet-5-5' } },
    acp: { gemini_acp: { command: ['gemini', '--acp'], env: ['GEMINI_API_KEY'] } },
  },
  proof: { origin: 'keepup.example.org/log', anchorEveryMs: 600_000 },
  webhooks: [{ name: 'chat', url: 'https://hooks.example.org/keepup', secret: 'CHAT_WEBHOOK' }],
  telemetry: { url: 'https://collector.example.org', headers: { authorization: 'COLLECTOR_AUTH' } },
  access: {
    oidc: {
      ...{ issuer: 'https://login.example.org', clientId: 'keepup' },
      roles: [{ claim: 'groups', value: 'auditors', role: 'auditor' }],
    },
  },
  mcp: { tracker: { command: ['npx', '-y', 'tracker-mcp'], secretEnv: { TRACKER_TOKEN: 'TRACKER_TOKEN' } } },
}

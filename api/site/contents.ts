/** A page of the site. `path`: its address in the site without `.html`. */
export interface SitePage {
  readonly path: string
  readonly title: string
  /** Markdown, with links to other pages by their `.md` files. */
  readonly text: string
}

export interface Part {
  readonly title: string
  /** The Markdown files below `api/docs`, without `.md`, in the order of reading. */
  readonly pages: readonly string[]
}

/** The menu of the site. The builder adds the pages that it makes from schemas to the reference. */
export const CONTENTS: readonly Part[] = [
  { title: 'Start', pages: ['README', 'tutorial'] },
  {
    title: 'How to',
    pages: [
      'installing',
      'command-line',
      'web',
      'documents',
      'agents',
      'library',
      'agent-sdks',
      'ag-ui',
      'examples/README',
      'access',
      'notices',
      'telemetry',
      'consumers',
      'export',
      'servers',
      'servers-operation',
      'upgrading',
    ],
  },
  {
    title: 'Reference',
    pages: ['settings', 'roles', 'tools', 'scripted-models', 'tables', 'http', 'events', 'glossary'],
  },
  {
    title: 'Examples',
    pages: [
      'coding-agent',
      'team-with-budget',
      'document-with-person',
      'external-agent',
      'ai-sdk',
      'claude-agent-sdk',
      'langgraph',
      'dashboard-duckdb',
      'projection-postgres',
    ].map((name) => `examples/${name}/README`),
  },
  {
    title: 'Explanation',
    pages: ['why-events', 'architecture', 'safety', 'proof', 'trace', 'threat-model', 'servers-guarantees', 'testing'],
  },
]

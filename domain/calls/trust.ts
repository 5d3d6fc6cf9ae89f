// The rule about texts that a model reads, by their possible authors.

/**
 * The sources of texts, and whether a text from the source is untrusted: its author may be somebody without authority
 * over the run, so the model must not follow instructions in it. Files of the workspace count as trusted, because a
 * person chose the folder. So does the output of commands in the sandbox, which has no network.
 */
const SOURCES = {
  person: false,
  prompt: false,
  knowledge: false,
  model: false,
  runtime: false,
  workspace: false,
  command: false,
  tool: true,
  web: true,
  agent: true,
  document: true,
  memory: true,
} as const
export type TextSource = keyof typeof SOURCES

/** The origin of a text. `source`: a {@link TextSource}, or the mark of the tool, such as `web` or `mcp`. */
export interface TextOrigin {
  readonly source: string
  readonly untrusted: boolean
}

export const textOrigin = (source: TextSource): TextOrigin => ({ source, untrusted: SOURCES[source] })

/**
 * The sources of results by tool. Other tools of keepup are `runtime`. Tools of MCP servers and of programs, which are
 * named `server:tool`, are `tool`.
 */
const TOOLS: Readonly<Record<string, TextSource>> = {
  read_url: 'web',
  search_web: 'web',
  read_document: 'document',
  edit_document: 'document',
  create_document: 'document',
  list_documents: 'document',
  list_comments: 'document',
  comment_document: 'document',
  suggest_change: 'document',
  recall: 'memory',
  delegate_to_agent: 'agent',
  send_message: 'agent',
  ask_user: 'person',
  list_dir: 'workspace',
  read_file: 'workspace',
  search_code: 'workspace',
  write_file: 'workspace',
  run_command: 'command',
}

/** Tools that show earlier texts again. */
const REPEATS: ReadonlySet<string> = new Set(['read_history', 'read_result'])

/** What the origin of a result depends on besides its tool. */
export interface ResultOfTool {
  readonly toolName: string
  readonly detail?: Readonly<Record<string, unknown>> | undefined
  /** The model has read an untrusted text before, which tools that repeat texts may show again. */
  readonly untrustedBefore: boolean
  /** The run's commands work in the sandbox. */
  readonly sandboxed: boolean
}

/**
 * The origin of a tool's result. A mark of the tool (`detail.untrusted`) decides. Otherwise the tool's name decides,
 * also for an erased result, whose mark is erased too.
 */
export function originOfResult({ toolName, detail, untrustedBefore, sandboxed }: ResultOfTool): TextOrigin {
  const mark = detail?.untrusted
  if (typeof mark === 'string') return { source: mark, untrusted: true }
  if (toolName.includes(':')) return textOrigin('tool')
  const source = Object.hasOwn(TOOLS, toolName) ? TOOLS[toolName]! : 'runtime'
  if (REPEATS.has(toolName)) return { source, untrusted: untrustedBefore }
  return source === 'command' ? { source, untrusted: !sandboxed } : textOrigin(source)
}

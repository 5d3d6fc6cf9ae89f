// Patterns of tool names in policies, roles and delegations: `tool`, `server:*` and `*`.

const ALIASES: Readonly<Record<string, string>> = { file_write: 'write_file' }

/** The canonical name of a tool; policies may use an alias. */
export const canonicalTool = (name: string): string => ALIASES[name] ?? name

export function matches(pattern: string, toolName: string): boolean {
  const canonical = canonicalTool(pattern)
  if (canonical === '*') return true
  return canonical.endsWith(':*') ? toolName.startsWith(canonical.slice(0, -1)) : canonical === toolName
}

export const covers = (patterns: readonly string[], toolName: string): boolean =>
  patterns.some((pattern) => matches(pattern, toolName))

/** Tools that need approval in interactive mode, because they change what other people work with. */
const SENSITIVE: readonly string[] = ['write_file', 'run_command', 'create_document', 'edit_document']

/** Whether this mode asks a person before each call of the tool, regardless of the policy's lists. */
export const asksInMode = (mode: 'interactive' | 'batch', toolName: string): boolean =>
  mode === 'interactive' && SENSITIVE.includes(toolName)
